// SPDX-License-Identifier: GPL-3.0-or-later
// Nothing here has constructors. But unless the linker sees them called it wraps each exported function in a call of
// them, and of destructors, as if that were a program of its own.
void __wasm_call_ctors(void);
void page_start(void);

void page_start(void) {
    __wasm_call_ctors();
}
