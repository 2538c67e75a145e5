// SPDX-License-Identifier: GPL-3.0-or-later

/** Runs a program and checks that woven code was left as often as it was entered. With the word "woven", that it was woven. */
public class Balance {
    public static void main(String[] arguments) throws Exception {
        Class.forName(arguments[0]).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        Class<?> helper = Class.forName("java.lang.Rehype");
        long enters = helper.getField("enters").getLong(null);
        long exits = helper.getField("exits").getLong(null) + helper.getField("throwsOut").getLong(null);
        boolean woven = arguments.length > 1;
        if (enters != exits || woven != (enters > 0)) {
            System.out.println("error: entered " + enters + " times, left " + exits + " times");
        }
    }
}
