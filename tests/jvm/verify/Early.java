// SPDX-License-Identifier: GPL-3.0-or-later

/** Constructors with code before super(). Java 25. */
public class Early {
    static class Base {
        final int value;

        Base(int value) {
            this.value = value;
        }
    }

    static class Derived extends Base {
        final String text;

        Derived(int n) {
            int size = 0;
            for (int i = 0; i < n; i++) size += i % 2 == 0 ? new StringBuilder(i > 2 ? "ab" : "c").length() : 2;
            String name = switch (n) {
                case 0 -> "none";
                case 1, 2 -> "few";
                default -> "many";
            };
            super(size);
            text = name + (size > 3 ? "+" : "-");
        }
    }

    public static void main(String[] arguments) {
        for (int n = 0; n < 6; n++) {
            Derived made = new Derived(n);
            System.out.println(made.value + made.text);
        }
    }
}
