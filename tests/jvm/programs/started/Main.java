// SPDX-License-Identifier: GPL-3.0-or-later
package org.h2.shop;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A program whose packages lie below those of a well-known library. */
public final class Main {
    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        System.out.println(pool.submit(() -> "a price").get());
        pool.shutdown();
    }
}
