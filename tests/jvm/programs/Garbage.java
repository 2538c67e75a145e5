// SPDX-License-Identifier: GPL-3.0-or-later
/** Asks for five collections, with something to collect. */
public final class Garbage {
    private static final int COLLECTIONS = 5;
    private static final int ARRAYS = 1000;
    private static final int BYTES = 1000;

    private Garbage() {
    }

    public static void main(String[] args) {
        int kept = 0;
        for (int i = 0; i < COLLECTIONS; i++) {
            byte[][] arrays = new byte[ARRAYS][];
            for (int k = 0; k < ARRAYS; k++) {
                arrays[k] = new byte[BYTES];
            }
            kept += arrays.length;
            System.gc();
        }
        System.out.println("Garbage: " + kept + " arrays");
    }
}
