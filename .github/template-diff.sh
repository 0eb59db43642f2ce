#!/usr/bin/env bash
# What a change does to the templates of one environment, as Markdown; no account is asked.
# Usage: template-diff.sh ENVIRONMENT BASE_ASSEMBLY NEW_ASSEMBLY   (folders that `cdk synth` wrote)
set -euo pipefail
environment=$1 base=$2 new=$3
root=$(cd "$(dirname "$0")/.." && pwd)
export PATH="$root/.venv/bin:$root/node_modules/.bin:$PATH"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '{}' > "$work/empty.json"

# cdk diff writes to stderr; stdout stays this script's.
compare() { # ASSEMBLY STACK OLD_TEMPLATE
  cdk diff --app "$1" --template "$3" --no-color --no-notices "$2" 2>&1
}

echo "### Templates of \`$environment\`"
for template in "$new"/*.template.json; do
  stack=$(basename "$template" .template.json)
  old=$base/$stack.template.json
  [[ -f $old ]] || old=$work/empty.json
  cmp -s "$old" "$template" && continue
  compare "$new" "$stack" "$old" > "$work/$stack.txt"
  printf '\n<details><summary>%s</summary>\n\n```diff\n' "$stack"
  cat "$work/$stack.txt"
  printf '```\n</details>\n'
done
