// SPDX-License-Identifier: GPL-3.0-or-later
// Which classes no line of a program stands in, by their names as the JVMs 8 to 25 have them.
#include "tracer/generated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *name, *stable, *host;
} hidden[] = {
    {"Main$$Lambda.0x00007f4c0c000c50", "Main$$Lambda", "Main"},
    {"com/acme/Main$$Lambda$7.0x00007f4c0c000c50", "com/acme/Main$$Lambda", "com/acme/Main"},
    {"com/acme/Main$Inner$$Lambda$14/0x0000000800066840", "com/acme/Main$Inner$$Lambda", "com/acme/Main$Inner"},
    {"Main$$Lambda$2/558638686", "Main$$Lambda", "Main"},
    {"com/acme/Template.0x00007f4c0c000c50", "com/acme/Template", "com/acme/Template"},
    {"com/acme/Script/12345", "com/acme/Script", "com/acme/Script"},
};

static void test_hidden(void **state) {
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        size_t length = strlen(hidden[i].name);
        assert_true(is_generated(hidden[i].name, length));
        assert_int_equal(generated_stable_length(hidden[i].name, length), strlen(hidden[i].stable));
        assert_int_equal(generated_host_length(hidden[i].name, length), strlen(hidden[i].host));
    }
}

static void test_proxies_and_accessors(void **state) {
    static const char *const names[] = {"com/sun/proxy/$Proxy0",
                                        "jdk/proxy2/$Proxy17",
                                        "$Proxy3",
                                        "sun/reflect/GeneratedMethodAccessor1",
                                        "jdk/internal/reflect/GeneratedConstructorAccessor12",
                                        "com/acme/Shop$$SpringCGLIB$$0",
                                        "com/acme/Shop$$EnhancerBySpringCGLIB$$3fa1",
                                        "com/acme/Shop$HibernateProxy$x7Yz",
                                        "com/acme/Shop_$$_jvst12_0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(is_generated(names[i], strlen(names[i])));
        assert_int_equal(generated_stable_length(names[i], strlen(names[i])), strlen(names[i]));
    }
}

static void test_the_programs_own(void **state) {
    static const char *const names[] = {"Main",
                                        "com/acme/Main$1",
                                        "com/acme/Main$$Lambda",
                                        "com/acme/$Proxy",
                                        "com/acme/$ProxyFactory",
                                        "com/acme/$Proxy7b",
                                        "com/acme/Proxy1",
                                        "com/acme/SpringCGLIB",
                                        "",
                                        "a/",
                                        "scala/$anonfun$1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_false(is_generated(names[i], strlen(names[i])));
        assert_int_equal(generated_stable_length(names[i], strlen(names[i])), strlen(names[i]));
        assert_int_equal(generated_host_length(names[i], strlen(names[i])), strlen(names[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_proxies_and_accessors),
        cmocka_unit_test(test_the_programs_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
