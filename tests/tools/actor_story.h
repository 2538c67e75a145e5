// SPDX-License-Identifier: GPL-3.0-or-later
// The case of M, Sec. 5 (docs/architecture.md, Sources), as a trace: in turns of 16 ms a physics and a renderer actor
// are triggered, physics tells the renderer twice in a turn what moved, and in every second one the sound what was hit.
// Apart, both are triggered by a timer at once, so that what moved is rendered in the next turn; coupled, the renderer
// is triggered by physics. Beside them, what else can happen to actors and messages: see actor_story.c.
#ifndef REHYPE_TESTS_ACTOR_STORY_H
#define REHYPE_TESTS_ACTOR_STORY_H

#include "trace_builder.h"

enum { STORY_TURNS = 4, STORY_TURN_NS = 16000000 };

struct trace_builder *actor_story(bool coupled);

#endif
