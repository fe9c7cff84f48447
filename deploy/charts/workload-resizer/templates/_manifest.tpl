{{/*
A manifest that kustomize uses, too. Only the namespaces and the name of the server's
ServiceAccount are replaced with the release's, also inside expressions.
Takes a dict of root (the top-level scope) and name (of the file in files/).
*/}}
{{- define "workload-resizer.manifest" -}}
{{- $path := printf "files/%s" .name }}
{{- $account := .root.Values.serviceAccount.name }}
{{- $text := .root.Files.Get $path | required (printf "the chart lacks %s" $path) }}
{{- $text = replace "workload-resizer-system" .root.Release.Namespace $text }}
{{- $text = replace "workload-resizer-agents" .root.Values.reportUsage.namespace $text }}
{{- $text = regexReplaceAll "(kind: ServiceAccount\n +name: )workload-resizer\n" $text (printf "${1}%s\n" $account) }}
{{- regexReplaceAll "(system:serviceaccount:[^:]+:)workload-resizer(['\"])" $text (printf "${1}%s${2}" $account) }}
{{- end }}

{{/*
The same for objects that hold the server's data: by default, an uninstall keeps them.
*/}}
{{- define "workload-resizer.state" -}}
{{- $text := include "workload-resizer.manifest" . }}
{{- if .root.Values.state.keep }}
{{- $text = replace "\nmetadata:\n" "\nmetadata:\n  annotations:\n    helm.sh/resource-policy: keep\n" $text }}
{{- end }}
{{- $text }}
{{- end }}
