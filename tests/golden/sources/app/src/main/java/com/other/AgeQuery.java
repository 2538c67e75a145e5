// SPDX-License-Identifier: GPL-3.0-or-later
// Of another package, so that it is not the one.
package com.other;

class AgeQuery {}
