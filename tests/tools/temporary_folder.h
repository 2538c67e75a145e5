// SPDX-License-Identifier: GPL-3.0-or-later
// A folder for a test program's files, with the name of a trace in it. To be the set-up and tear-down of the group:
//
//     return cmocka_run_group_tests(tests, temporary_folder_make, temporary_folder_remove);
#ifndef REHYPE_TESTS_TEMPORARY_FOLDER_H
#define REHYPE_TESTS_TEMPORARY_FOLDER_H

extern char temporary_folder[]; // from temporary_folder_make on
extern char temporary_trace[];  // in it; the file is the test's to write

// 0, or -1. Only the trace is removed with the folder: any other file left behind makes that fail.
int temporary_folder_make(void **state);
int temporary_folder_remove(void **state);

#endif
