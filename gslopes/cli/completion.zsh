#compdef gslopes
# What gslopes offers after a tab in zsh; gslopes/cli/completion.py finds it.
_gslopes_completion() {
    local -a values begun
    local line="${(j: :)words[1,CURRENT-1]} ${words[CURRENT]:-''}" found value about
    compset -P '--*='
    for found in "${(@f)$(COMP_LINE=$line _GSLOPES_COMPLETE=zsh ${words[1]} 2>/dev/null)}"; do
        value=${found%%  \# *}
        about=${found#*  \# }
        [[ -n $value ]] || continue
        if [[ $value == *[:=/] ]]; then
            begun+=("${value//:/\\:}:$about")
        else
            values+=("${value//:/\\:}:$about")
        fi
    done
    (( ${#values} + ${#begun} )) || { _files; return }
    (( ${#values} )) && _describe -V gslopes values
    (( ${#begun} )) && _describe -V gslopes begun -S ''
    return 0
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _gslopes_completion "$@"
else
    compdef _gslopes_completion gslopes
fi
