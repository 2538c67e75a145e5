// SPDX-License-Identifier: GPL-3.0-or-later
package org.springframework.boot.loader.launch;

/** As Spring Boot's, which starts the class that the manifest names so. */
public final class JarLauncher {
    public static void main(String[] args) throws Exception {
        org.h2.shop.Main.main(args);
    }
}
