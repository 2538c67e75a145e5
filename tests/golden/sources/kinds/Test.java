// SPDX-License-Identifier: GPL-3.0-or-later
// The file that kinds.msgpack names, as it might be: lines 10, 20 and 30 hand tasks over, and there is no line 40.
class Main {
	private final java.util.concurrent.ExecutorService pool = null;

	void fine(java.util.List<Runnable> items) {
		// A tab is as wide as four blanks.

		for (Runnable item : items) {
			pool.execute(item);
		}
	}

	// A line that is longer than what is shown: 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789





	void coarse(Runnable item) { pool.execute(item); }

	// µ is one letter.





	void lookup(Runnable item) {

		pool.execute(item);
	}
}
