package charts

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestValues(t *testing.T) {
	t.Run("wrong values are refused", wrongValuesAreRefused)
	t.Run("an older kubernetes is refused", anOlderKubernetesIsRefused)
	t.Run("the chart passes the linter with all values of CI", theChartPassesTheLinterWithAllValuesOfCI)
}

func wrongValuesAreRefused(t *testing.T) {
	for _, tc := range []struct{ name, values, refused string }{
		{"a value that does not exist", "replica: 3", "additional properties 'replica' not allowed"},
		{"a value that does not exist, further down", "image: {tags: v1}", "additional properties 'tags' not allowed"},
		{"text for a number", "replicas: three", "at '/replicas': got string, want integer"},
		{"half a server", "replicas: 1.5", "at '/replicas'"},
		{"a log format that the server does not know", "log: {format: xml}", "at '/log/format': value must be one of 'json', 'text'"},
		{"a digest that is none", "image: {digest: latest}", "at '/image/digest': 'latest' does not match pattern"},
		{"a pull policy that does not exist", "image: {pullPolicy: Sometimes}", "at '/image/pullPolicy': value must be one of"},
		{"an argument that is no flag", "extraArgs: [realign-rate=5]", "at '/extraArgs/0'"},
		{"a mode of TLS that does not exist", "tls: {mode: none}", "at '/tls/mode': value must be one of"},
		{"a Secret to serve with that is not named", "tls: {mode: existingSecret}", "at '/tls/secretName'"},
		{"more names for a certificate that somebody else makes", "tls: {mode: existingSecret, secretName: serving, dnsNames: [resizer.example.com]}", "at '/tls/dnsNames': maxItems: got 1, want 0"},
		{"a name that callers cannot look up", "tls: {dnsNames: ['resizer.example.com:443']}", "at '/tls/dnsNames/0'"},
		{"metrics for nobody, which would be all", "networkPolicy: {metricsFrom: []}", "at '/networkPolicy/metricsFrom': minItems: got 0, want 1"},
		{"a PriorityClass without a name", "priorityClass: {create: true, name: ''}", "at '/priorityClass/name'"},
		{"a priority that only the cluster itself may have", "priorityClass: {value: 2000000000}", "at '/priorityClass/value': maximum"},
		{"a quantity that is none", "resources: {limits: {memory: 2 GB}}", "at '/resources/limits/memory'"},
		{"a spread without a key", "topologySpread: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]", "missing property 'topologyKey'"},
		{"a collector without a port", "tracing: {endpoint: collector}", "at '/tracing/endpoint': 'collector' does not match pattern"},
		{"a share that is none", "tracing: {sampleRatio: 50}", "at '/tracing/sampleRatio': maximum: got 50, want 1"},
		{"an account that cannot be called so", "serviceAccount: {name: My_Account}", "at '/serviceAccount/name'"},
		{"a Deployment to replace without labels", "dropIn: {enabled: true, selector: null}", "at '/dropIn'"},
		{"a label of the node that nobody writes", "benchNode: {labelNode: true}", "at '/benchNode/enabled'"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := rendered(t, namespace, tc.values)
			if err == nil || !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("got %v, want %q", err, tc.refused)
			}
		})
	}
}

func anOlderKubernetesIsRefused(t *testing.T) {
	for _, tc := range []struct{ name, version, values, refused string }{
		{"one that cannot resize pods in place", "1.32.9", "", "chart requires kubeVersion: >=1.33.0-0 which is incompatible with Kubernetes v1.32.9"},
		{"the oldest that can", "1.33.0", "", ""},
		{"one that cannot stamp originals", "1.35.4", "stampOriginals: {enabled: true}", "stampOriginals.enabled needs Kubernetes 1.36 or later, this is v1.35.4"},
		{"the oldest that can stamp them, as a cloud calls it", "1.36.1-gke.100", "stampOriginals: {enabled: true}", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := run(t, tc.values, "helm", "template", chart, chart, "--kube-version", tc.version, "--values", "-")
			if (err == nil) != (tc.refused == "") || err != nil && !strings.Contains(err.Error(), tc.refused) {
				t.Errorf("got %v, want %q", err, tc.refused)
			}
		})
	}
}

func theChartPassesTheLinterWithAllValuesOfCI(t *testing.T) {
	must(t, "", "helm", "lint", "--strict", chart)
	files, err := filepath.Glob(filepath.Join(chart, "ci", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no values: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			must(t, "", "helm", "lint", "--strict", chart, "--values", file)
			if len(parsed(t, must(t, "", "helm", "template", chart, chart, "--values", file))) == 0 {
				t.Error("it makes nothing")
			}
		})
	}
}
