{{- define "workload-resizer.labels" -}}
app.kubernetes.io/name: workload-resizer
app.kubernetes.io/component: server
{{- end }}

{{- define "workload-resizer.image" -}}
{{- with .Values.image }}
{{- .repository }}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* The arguments of the server, as a list. */}}
{{- define "workload-resizer.args" -}}
{{- $tls := .Values.tls }}
- serve
- --grpc-bind-address=:7443
- --http-bind-address=:8080
{{- if eq $tls.mode "selfSigned" }}
- --tls-self-signed
{{- with $tls.dnsNames }}
{{- $service := printf "workload-resizer.%s.svc" $.Release.Namespace }}
- --tls-dns-names={{ concat (list $service (printf "%s.cluster.local" $service)) . | join "," }}
{{- end }}
{{- else }}
- --tls-cert-file=/etc/workload-resizer/tls/tls.crt
- --tls-private-key-file=/etc/workload-resizer/tls/tls.key
{{- end }}
- --log-format={{ .Values.log.format }}
{{- with .Values.log.verbosity }}
- --verbosity={{ int . }}
{{- end }}
{{- if ne .Release.Namespace "workload-resizer-system" }}
- --config-namespace={{ .Release.Namespace }}
{{- end }}
{{- if ne .Values.config.name "workload-resizer-config" }}
- --config-name={{ .Values.config.name }}
{{- end }}
{{- with .Values.tracing }}
{{- if .endpoint }}
- --tracing-endpoint={{ .endpoint }}
- --tracing-sample-ratio={{ .sampleRatio }}
{{- if .insecure }}
- --tracing-insecure
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.metrics.authorization }}
- --metrics-authorization
{{- end }}
{{- with .Values.pprof.bindAddress }}
- --pprof-bind-address={{ . }}
{{- end }}
{{- if and .Values.benchNode.enabled .Values.benchNode.startupTaint }}
- --startup-taint
{{- end }}
{{- if .Values.vpaObjects.enabled }}
- --vpa-objects
{{- end }}
{{- if .Values.evictPods.enabled }}
- --evict-pods
{{- end }}
{{- if .Values.sizeAtCreation.enabled }}
- --size-at-creation
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{/* What the server tolerates: with startup taints, also new nodes, or a cluster of these would have none for it. */}}
{{- define "workload-resizer.tolerations" -}}
{{- $all := .Values.tolerations }}
{{- if and .Values.benchNode.enabled .Values.benchNode.startupTaint }}
{{- $all = append $all (dict "key" "startup-taint.cluster-autoscaler.kubernetes.io/workload-resizer" "operator" "Exists") }}
{{- end }}
{{- with $all }}
{{- toYaml . }}
{{- end }}
{{- end }}
