package charts

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/deploy"
)

func TestValues(t *testing.T) {
	t.Run("invalid values are refused", invalidValuesAreRefused)
	t.Run("ratios keep their indentation", ratiosKeepTheirIndentation)
	t.Run("Kubernetes versions that are too old are refused", kubernetesVersionsThatAreTooOldAreRefused)
	t.Run("the chart passes the linter with all values in ci", theChartPassesTheLinterWithAllValuesInCi)
}

func invalidValuesAreRefused(t *testing.T) {
	for _, tc := range []struct{ name, values, refused string }{
		{"an unknown value", "replica: 3", "additional properties 'replica' not allowed"},
		{"an unknown nested value", "image: {tags: v1}", "additional properties 'tags' not allowed"},
		{"text for a number", "replicas: three", "at '/replicas': got string, want integer"},
		{"a fraction for a number of replicas", "replicas: 1.5", "at '/replicas'"},
		{"an unknown log format", "log: {format: xml}", "at '/log/format': value must be one of 'json', 'text'"},
		{"an invalid digest", "image: {digest: latest}", "at '/image/digest': 'latest' does not match pattern"},
		{"an unknown pull policy", "image: {pullPolicy: Sometimes}", "at '/image/pullPolicy': value must be one of"},
		{"an argument that is not a flag", "extraArgs: [workers=5]", "at '/extraArgs/0'"},
		{"an unknown TLS mode", "tls: {mode: none}", "at '/tls/mode': value must be one of"},
		{"an existing Secret without a name", "tls: {mode: existingSecret}", "at '/tls/secretName'"},
		{"additional names for an existing certificate", "tls: {mode: existingSecret, secretName: serving, dnsNames: [resizer.example.com]}", "at '/tls/dnsNames': maxItems: got 1, want 0"},
		{"an invalid DNS name", "tls: {dnsNames: ['resizer.example.com:443']}", "at '/tls/dnsNames/0'"},
		{"an empty list of metrics readers, which would allow all", "networkPolicy: {metricsFrom: []}", "at '/networkPolicy/metricsFrom': minItems: got 0, want 1"},
		{"a PriorityClass without a name", "priorityClass: {create: true, name: ''}", "at '/priorityClass/name'"},
		{"a priority that is reserved for the system", "priorityClass: {value: 2000000000}", "at '/priorityClass/value': maximum"},
		{"an invalid quantity", "resources: {limits: {memory: 2 GB}}", "at '/resources/limits/memory'"},
		{"a topology spread without a key", "topologySpread: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]", "missing property 'topologyKey'"},
		{"a collector without a port", "tracing: {endpoint: collector}", "at '/tracing/endpoint': 'collector' does not match pattern"},
		{"an invalid sample ratio", "tracing: {sampleRatio: 50}", "at '/tracing/sampleRatio': maximum: got 50, want 1"},
		{"an invalid name of a ServiceAccount", "serviceAccount: {name: My_Account}", "at '/serviceAccount/name'"},
		{"a Deployment to replace without labels", "dropIn: {enabled: true, selector: null}", "at '/dropIn'"},
		{"a startup taint without an agent", "benchNode: {startupTaint: true}", "at '/benchNode/enabled'"},
		{"a sample interval that is too long", "reportUsage: {sampleInterval: 11s}", "at '/reportUsage/sampleInterval'"},
		{"a sample interval without a unit", "reportUsage: {sampleInterval: '5'}", "at '/reportUsage/sampleInterval'"},
		{"an invalid namespace of agents", "reportUsage: {namespace: My_Agents}", "at '/reportUsage/namespace'"},
		{"ratios for a ConfigMap that is not created", "config: {create: false, content: 'baselineNodeType: n2d'}", "set only one of them"},
		{"ratios that are no YAML", "config: {content: 'nodeTypes: ]'}", "config.content cannot be read"},
		{"ratios that are a string", "config: {content: my-config.yaml}", "config.content cannot be read"},
		{"ratios as a manifest", `config: {content: "apiVersion: v1\nkind: ConfigMap\ndata: {}"}`, "config.content is a manifest"},
		{"ratios without a baseline", "config: {content: 'nodeTypes: {}'}", "config.content has no baselineNodeType"},
		{"a node label without an agent", "benchNode: {labelNode: true}", "at '/benchNode/enabled'"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := rendered(t, namespace, tc.values)
			if err == nil || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("got %v, want %q", err, tc.refused)
			}
		})
	}
}

func ratiosKeepTheirIndentation(t *testing.T) {
	const ratios = "  baselineNodeType: n2d\n  nodeTypes: {n2d: {cpuPerf: 1, memPerf: 1}}\n"
	manifest, err := rendered(t, namespace, fmt.Sprintf("config: {content: %q}", ratios))
	if err != nil {
		t.Fatal(err)
	}
	if got := parsed(t, manifest)["v1 ConfigMap "+namespace+"/"+deploy.ConfigMap]["data"].(object)["config.yaml"]; got != ratios {
		t.Errorf("got %q", got)
	}
}

func kubernetesVersionsThatAreTooOldAreRefused(t *testing.T) {
	for _, tc := range []struct{ name, version, values, refused string }{
		{"refuses the last version without in-place resize", "1.32.9", "", "chart requires kubeVersion: >=1.33.0-0 which is incompatible with Kubernetes v1.32.9"},
		{"accepts the first version with in-place resize", "1.33.0", "", ""},
		{"refuses to stamp originals before 1.36", "1.35.4", "stampOriginals: {enabled: true}", "stampOriginals.enabled requires Kubernetes 1.36 or later, but this is v1.35.4"},
		{"stamps originals from 1.36 on, with a cloud's version suffix", "1.36.1-gke.100", "stampOriginals: {enabled: true}", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := run(t, tc.values, "helm", "template", chart, chart, "--kube-version", tc.version, "--values", "-")
			if (err == nil) != (tc.refused == "") || err != nil && !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("got %v, want %q", err, tc.refused)
			}
		})
	}
}

func theChartPassesTheLinterWithAllValuesInCi(t *testing.T) {
	must(t, "", "helm", "lint", "--strict", chart)
	files, err := filepath.Glob(filepath.Join(chart, "ci", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found no values in ci/: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			must(t, "", "helm", "lint", "--strict", chart, "--values", file)
			if len(parsed(t, must(t, "", "helm", "template", chart, chart, "--values", file))) == 0 {
				t.Error("the manifest is empty")
			}
		})
	}
}
