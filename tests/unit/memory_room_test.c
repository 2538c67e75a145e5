// SPDX-License-Identifier: GPL-3.0-or-later
// What memory there is, read from made files of /proc and of cgroups of both versions.
#include "tracer/memory_room.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t MIB = 1 << 20, GIB = 1 << 30;
static char root[] = "/tmp/memory_room.XXXXXX";

static int make_root(void **state) {
    strcpy(root, "/tmp/memory_room.XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void put_file(const char *folder, const char *name, const char *text) {
    char command[300];
    snprintf(command, sizeof command, "mkdir -p %s%s", root, folder);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s%s/%s", root, folder, name);
    FILE *file = fopen(command, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

// A machine of 16 GiB, 12 of them available.
static void put_machine(void) {
    put_file("/proc", "meminfo",
             "MemTotal:       16777216 kB\nMemFree:         1000000 kB\nMemAvailable:   12582912 kB\n"
             "CommitLimit:     8388608 kB\nCommitted_AS:    6291456 kB\n");
}

static void assert_room(uint64_t total_bytes, uint64_t available_bytes) {
    struct memory_room room = memory_room_read(root);
    assert_int_equal(room.total_bytes, total_bytes);
    assert_int_equal(room.available_bytes, available_bytes);
}

static void test_nothing_is_known(void **state) {
    assert_room(0, 0);
}

static void test_the_machine_alone(void **state) {
    put_machine();
    assert_room(16 * GIB, 12 * GIB);
}

static void test_an_old_kernel_does_not_say_what_is_available(void **state) {
    put_file("/proc", "meminfo", "MemTotal:       16777216 kB\nMemFree:         1000000 kB\n");
    assert_room(16 * GIB, 8 * GIB);
}

static void test_a_cgroup_of_version_2(void **state) {
    put_machine();
    put_file("/proc/self", "cgroup", "0::/system.slice/shop.service\n");
    put_file("/sys/fs/cgroup/system.slice/shop.service", "memory.max", "1073741824\n");
    put_file("/sys/fs/cgroup/system.slice/shop.service", "memory.high", "max\n");
    put_file("/sys/fs/cgroup/system.slice/shop.service", "memory.current", "734003200\n");
    put_file("/sys/fs/cgroup/system.slice/shop.service", "memory.stat", "anon 1\ninactive_file 104857600\n");
    assert_room(GIB, GIB - 600 * MIB);
}

static void test_the_tightest_of_all_above_counts(void **state) {
    put_machine();
    put_file("/proc/self", "cgroup", "0::/a/b\n");
    put_file("/sys/fs/cgroup/a/b", "memory.max", "max\n");
    put_file("/sys/fs/cgroup/a", "memory.max", "2147483648\n");
    put_file("/sys/fs/cgroup/a", "memory.high", "1073741824\n");
    put_file("/sys/fs/cgroup/a", "memory.current", "2147483648\n");
    assert_room(GIB, 0);
}

// In a container the path is the host's, and the mount's root the container's.
static void test_a_container_of_version_1(void **state) {
    put_machine();
    put_file("/proc/self", "cgroup", "5:cpu,cpuacct:/docker/1\n4:hugetlb,memory:/docker/1\n0::/\n");
    put_file("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "536870912\n");
    put_file("/sys/fs/cgroup/memory", "memory.usage_in_bytes", "268435456\n");
    put_file("/sys/fs/cgroup/memory", "memory.stat", "inactive_file 1\ntotal_inactive_file 67108864\n");
    assert_room(512 * MIB, 320 * MIB);
}

static void test_version_1_without_a_limit(void **state) {
    put_machine();
    put_file("/proc/self", "cgroup", "4:memory:/\n");
    put_file("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "9223372036854771712\n");
    put_file("/sys/fs/cgroup/memory", "memory.usage_in_bytes", "268435456\n");
    assert_room(16 * GIB, 12 * GIB);
}

static void test_what_makes_no_sense_sets_no_limit(void **state) {
    put_machine();
    put_file("/proc/self", "cgroup", "memory\n4:memory\n0::/a\n:::\n");
    put_file("/sys/fs/cgroup/a", "memory.max", "plenty\n");
    put_file("/sys/fs/cgroup/a", "memory.current", "\n");
    assert_room(16 * GIB, 12 * GIB);
}

static void test_where_nothing_is_overcommitted(void **state) {
    put_machine();
    put_file("/proc/sys/vm", "overcommit_memory", "2\n");
    assert_room(GIB, GIB);
}

static void test_the_share(void **state) {
    assert_int_equal(memory_share(16 * GIB), 2 * GIB);
    assert_int_equal(memory_share(1024 * GIB), 4 * GIB);
    assert_int_equal(memory_share(0), 8 * MIB);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_is_known, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_the_machine_alone, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_an_old_kernel_does_not_say_what_is_available, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_a_cgroup_of_version_2, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_the_tightest_of_all_above_counts, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_a_container_of_version_1, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_version_1_without_a_limit, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_what_makes_no_sense_sets_no_limit, make_root, remove_root),
        cmocka_unit_test_setup_teardown(test_where_nothing_is_overcommitted, make_root, remove_root),
        cmocka_unit_test(test_the_share),
    };
    return cmocka_run_group_tests_name("memory_room", tests, NULL, NULL);
}
