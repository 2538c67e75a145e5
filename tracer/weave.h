// SPDX-License-Identifier: Apache-2.0
// The class-file weaver: takes a class as the JVM is about to define it, inserts calls to the tracer's helper class,
// and gives back a class that the verifier accepts. Pure: bytes in, bytes out; no JVM type, no global state, no I/O.
// Hence it runs on any thread, and is tested and fuzzed outside a JVM.
//
// Use: weaver_open -> look at the class (class_file below) -> weaver_insert / weaver_catch_all / weaver_add_field ->
// weaver_finish. All memory comes from the weaver's arena and lives until weaver_close. Input is untrusted: every read
// is bounded, and a malformed class is an error with the byte offset, never a crash.
//
// What stays right: StackMapTable (frames shift, Uninitialized offsets follow their `new`), exception tables,
// LineNumberTable, LocalVariable(Type)Table, type annotations' offsets, switch padding. All attributes that the weaver
// does not know are copied verbatim; the constant pool is only appended to, so indices stay valid (a retransformation
// may not do anything else). Class-file format: JVMS chapter 4 (SE 25).
#ifndef REHYPE_TRACER_WEAVE_H
#define REHYPE_TRACER_WEAVE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// A slice of the class's own bytes (modified UTF-8, not terminated). Names are in internal form (java/lang/Object).
struct utf8 {
    const char *bytes;
    uint16_t length;
};

// Inline, for the length of a literal to be a constant: each class that is loaded is asked hundreds of times.
static inline bool utf8_is(struct utf8 name, const char *text) {
    return strlen(text) == name.length && memcmp(name.bytes, text, name.length) == 0;
}

struct class_method {
    struct utf8 name, descriptor;
    uint16_t access;
    uint32_t code_length; // bytes of bytecode; 0 when abstract or native
    uint32_t first_line;  // least line of its LineNumberTable, 0 if unknown
    uint16_t max_locals;
};

struct class_file {
    uint16_t major_version, access;
    struct utf8 name, super_name; // super_name is empty for java/lang/Object
    struct utf8 source_file;      // empty if unknown
    const struct utf8 *interfaces;
    uint16_t interface_count;
    const struct class_method *methods;
    uint16_t method_count;
};

// A call instruction in a method, for hooks at call sites.
struct call_site {
    uint32_t bci, line; // as in the class file given to weaver_open; line 0 if unknown
    uint8_t opcode;     // invokevirtual, invokespecial, invokestatic, invokeinterface
    struct utf8 owner, name, descriptor;
};

struct weaver;

// Parses: some 3 us for an average class. NULL and *error on a malformed class, or one older than version 45.3. The
// bytes must stay readable until weaver_close.
struct weaver *weaver_open(const uint8_t *bytes, size_t length, struct error *error);
const struct class_file *weaver_class(const struct weaver *weaver);

// What a method that a class calls, or a dynamic call site, is to the asker: bits of its own.
typedef uint32_t weaver_kind(struct utf8 name, struct utf8 descriptor, bool dynamic);

// The bits of all that the class's constant pool refers to: one walk over it tells most classes apart without a look at
// their code.
uint32_t weaver_refers_to(const struct weaver *weaver, weaver_kind *kind);

// Call sites of one method in order of bci; returns the count, *sites in the weaver's arena. 0 for abstract methods.
// invokedynamic is not listed.
size_t weaver_call_sites(struct weaver *weaver, uint16_t method, const struct call_site **sites);

// The same of invokedynamic, which has no owner: a lambda's name is that of the interface's method, its descriptor
// returns the interface.
size_t weaver_dynamic_sites(struct weaver *weaver, uint16_t method, const struct call_site **sites);

// Where the method's exception handlers begin, in the order of its table, each once; *bcis in the weaver's arena.
size_t weaver_handlers(struct weaver *weaver, uint16_t method, const uint16_t **bcis);

// The line of an instruction; 0 if unknown.
uint32_t weaver_line(struct weaver *weaver, uint16_t method, uint32_t bci);

// Where the method locks or unlocks a monitor, in order of bci. `local`: holds the object as the instruction that locks
// is done, whichever way led there; -1: none is known to.
struct monitor_site {
    uint32_t bci, line;
    bool exits;  // unlocks
    bool caught; // by a handler, whatever a call would throw that is inserted behind it or, where it unlocks, before it
    int local;
};
size_t weaver_monitors(struct weaver *weaver, uint16_t method, const struct monitor_site **sites);

// Whether local 0 is what it was on entry throughout the method.
bool weaver_keeps_receiver(struct weaver *weaver, uint16_t method);

// Where the object came from that is called at bci (with that descriptor), or whose monitor is locked there (an empty
// one): a field, the method's own `this`, or a class as a constant (its name in `member.owner`). What is not plain to
// see is unknown.
struct member_ref {
    struct utf8 owner, name, descriptor;
};
struct receiver {
    enum { RECEIVER_UNKNOWN, RECEIVER_FIELD, RECEIVER_THIS, RECEIVER_CLASS } kind;
    struct member_ref member;
};
struct receiver weaver_receiver(struct weaver *weaver, uint16_t method, uint32_t bci, struct utf8 descriptor);

enum insert_where {
    INSERT_ENTRY, // once on entry: back edges to pc 0 don't run it again. In a constructor: after this()/super()
    INSERT_BEFORE_RETURN, // before every return instruction; the value to be returned is on the stack and must stay
                          // there
    INSERT_BEFORE_BCI,    // before the instruction at bci; jumps to that instruction run it as well
    INSERT_AFTER_BCI,     // after the (call) instruction at bci, when it completes normally; fallthrough only
};

// Inserts a snippet, written in a tiny assembly, one instruction a ';':
//   aload N | iload N | lload N | dup | dup2 | dup_x1 | dup2_x1 | pop | pop2 | i2l | ladd | lconst_0 | aconst_null
//   class                                   push the class itself (class files of version 49 and later)
//   int K                                   push a constant (shortest form)
//   call NAME DESCRIPTOR                    invokestatic HELPER.NAME, HELPER being weaver_helper's class
//   static OWNER NAME DESCRIPTOR            invokestatic OWNER.NAME; OWNER '.' is the class itself
//   virtual OWNER NAME DESCRIPTOR | interface OWNER NAME DESCRIPTOR      invokevirtual, invokeinterface
//   instanceof CLASS | checkcast CLASS
//   getfield OWNER NAME DESCRIPTOR | putfield OWNER NAME DESCRIPTOR      OWNER '.' is the class itself
// It must leave the stack as it found it; the weaver checks stack effects and grows max_stack. On the stack it finds:
// on entry nothing, before a return the value to be returned, at a bci whatever the instruction there finds or leaves
// (up to eight slots, types unchecked: the caller knows the instruction). Locals that it reads must be parameters that
// the method does not overwrite with another type: the caller knows its JDK. false and *error if the snippet is wrong
// (STATUS_USAGE), as is insertion into an abstract method, at a bci where no instruction starts, or after an
// instruction that does not go on to the next. Cost: under a microsecond, and once a method a walk over its code.
bool weaver_insert(struct weaver *weaver, uint16_t method, enum insert_where where, uint32_t bci, const char *snippet,
                   struct error *error);

// Covers the method's whole original code (in a constructor: what follows this()/super()) with a last-resort handler
// that runs the snippet (stack: empty but for the saved exception; no locals) and throws the exception on.
bool weaver_catch_all(struct weaver *weaver, uint16_t method, const char *snippet, struct error *error);

// Has each basic block, when it begins, call HELPER.`call` (I)V with the number of its instructions, so that the sum is
// what the method ran: of its own instructions, not of what is inserted. A block also ends behind every instruction
// that may throw; only what the JVM fails at by itself (no memory, a class that can't be linked or initialised) leaves
// the rest of a block counted and not run. Snippets inserted before the same instruction afterwards see it counted,
// those on entry (but in a constructor) not. A block grows by 4 to 6 bytes.
bool weaver_count_blocks(struct weaver *weaver, uint16_t method, const char *call, struct error *error);

// Whether the JVM may run code of its own in place of the method's (@IntrinsicCandidate, JDK 9 and later): when it does
// is its own affair.
bool weaver_is_intrinsic(const struct weaver *weaver, uint16_t method);

// Whether the class itself has the field.
bool weaver_has_field(const struct weaver *weaver, const char *name, const char *descriptor);

// Adds a field: only for a class's first definition, never for a retransformation.
bool weaver_add_field(struct weaver *weaver, const char *name, const char *descriptor, uint16_t access,
                      struct error *error);

// The helper class that `call` names; "java/lang/Rehype" unless set.
void weaver_helper(struct weaver *weaver, const char *class_name);

// A method that cannot take its insertions is left exactly as it was, alone, and is listed here with the reason: over
// 65,535 bytes, a 16-bit branch out of range, jsr/ret, a constructor whose super call isn't found, malformed code, or
// an empty finalize(): HotSpot tells classes without finalizer by it, and with Object's woven it can't even boot.
struct weave_skip {
    uint16_t method;
    const char *why;
};

// Writes the woven class. *bytes lives in the weaver's arena. *woven is the number of methods changed; with none
// changed and no field added *bytes is NULL: keep the original. false and *error when the class as a whole can't take
// it (constant pool full).
bool weaver_finish(struct weaver *weaver, const uint8_t **bytes, size_t *length, unsigned *woven,
                   const struct weave_skip **skips, size_t *skip_count, struct error *error);

void weaver_close(struct weaver *weaver);

// For offsets seen in woven code (stack traces): the bci in the original code of what stands at `bci` now; valid after
// weaver_finish, for a method that was woven (else 0 pairs). *shifts is a copy-able table: pairs of (first woven bci,
// amount to subtract), rising, to be kept by callers that outlive the weaver; before the first pair nothing is
// subtracted. Inserted instructions count as the instruction that they were inserted before or after, on entry as bci
// 0; those of weaver_catch_all's handler as the end of the code, code_length.
struct bci_shift {
    uint16_t from, subtract;
};
size_t weaver_shifts(struct weaver *weaver, uint16_t method, const struct bci_shift **shifts);

#endif
