# What gslopes offers after a tab in bash; gslopes/cli/completion.py finds it.
_gslopes_completion() {
    local IFS=$'\n' line=${COMP_LINE:0:COMP_POINT} word prefix='' value
    word=${line##*[[:space:]]}
    [[ -n $word ]] || line+="''"
    # a word of readline ends at each of these; what is before the last one it has already
    [[ $word == *[:=]* && $COMP_WORDBREAKS == *:* ]] && prefix=${word%"${word##*[:=]}"}
    COMPREPLY=()
    for value in $(COMP_LINE=$line _GSLOPES_COMPLETE=bash "$1" 2>/dev/null); do
        value=${value%%  # *}
        value=${value#"$prefix"}
        [[ $word == [\'\"]* ]] || printf -v value %q "$value"
        COMPREPLY+=("$value")
    done
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[:=/] ]] && compopt -o nospace
    return 0
}

# without anything of ours, files
complete -o nosort -o default -F _gslopes_completion gslopes
