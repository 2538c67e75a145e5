# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by benches that time programs. What was timed on a virtual machine while its host took time away (steal, proc(5))
# tells of the host: such a run is thrown away and run again, whatever came out of it, for only the host's share decides.
# Shares are of the time that the machine had work for, busy or kept from it: in time that nobody wanted nothing is taken.

host_bar=20        # per mille: a run of which the host took more is disturbed; in a short one that is a single clock tick
host_tries=5       # at most; the last one counts, disturbed or not
host_repeat_s=0    # set by who sources this: once runs of as many seconds were thrown away, none is any more
host_thrown_s=0
host_runs=0        # that count
host_repeated=0    # that were thrown away
host_disturbed=0   # that count, though disturbed
host_most_stolen=0 # of the runs that count, per mille
host_most_others=0

# Sets stolen, wanted and own, in clock ticks since the start: the host's, the machine's, and those of this shell's children.
host_times() {
    local user nice system irq softirq line fields
    read -r _ user nice system _ _ irq softirq stolen _ </proc/stat
    wanted=$((user + nice + system + irq + softirq + stolen))
    read -r line <"/proc/$$/stat"
    read -r -a fields <<<"${line##*) }"
    own=$((fields[13] + fields[14]))
}

# Runs COMMAND, and again as long as the host disturbs it.
undisturbed() { # COMMAND...
    local stolen wanted own stolen_before wanted_before own_before others begin try
    for ((try = 1; ; try++)); do
        host_times
        stolen_before=$stolen wanted_before=$wanted own_before=$own begin=$SECONDS
        "$@"
        host_times
        wanted=$((wanted > wanted_before ? wanted - wanted_before : 1))
        others=$((1000 * (wanted - (stolen - stolen_before) - (own - own_before)) / wanted))
        stolen=$((1000 * (stolen - stolen_before) / wanted))
        if ((stolen <= host_bar)); then break; fi
        if ((try == host_tries || host_thrown_s >= host_repeat_s)); then
            host_disturbed=$((host_disturbed + 1))
            break
        fi
        host_thrown_s=$((host_thrown_s + SECONDS - begin))
        host_repeated=$((host_repeated + 1))
    done
    host_runs=$((host_runs + 1))
    if ((stolen > host_most_stolen)); then host_most_stolen=$stolen; fi
    if ((others > host_most_others)); then host_most_others=$others; fi
}

# One paragraph of Markdown.
host_report() { # RUNS: what they are called
    echo "Of the time that the machine had work for, its host took at most $(host_percent $host_most_stolen) % while one of the"
    echo "$host_runs $1 ran, other processes at most $(host_percent $host_most_others) %. Thrown away and run again, since the host had"
    echo "taken more than $(host_percent $host_bar) %: $host_repeated. Kept although it had: $host_disturbed."
}

host_percent() { # PER_MILLE
    echo "$(($1 / 10)).$(($1 % 10))"
}
