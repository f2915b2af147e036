# What gslopes offers after a tab in fish; gslopes/cli/completion.py finds it.
function _gslopes_completion
    set -l line (commandline -cp)
    set -l option (string match --regex '^--[a-z-]+=' -- (commandline -ct))
    test -n (commandline -ct); or set line "$line''"
    COMP_LINE="$line" _GSLOPES_COMPLETE=fish gslopes 2>/dev/null | string replace --regex '^(.*?)  # ' -- "$option\$1"\t
end

complete --command gslopes --no-files --arguments '(_gslopes_completion)'
