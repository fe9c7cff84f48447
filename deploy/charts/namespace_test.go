package charts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const everything = `
image: {repository: registry.example.com/resizer, digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}
namespace: {create: true}
config: {name: speeds, content: "baselineNodeType: n2d\nnodeTypes:\n  n2d: {cpuPerf: 1, memPerf: 1}\n"}
serviceAccount: {name: resizer}
benchNode: {enabled: true, labelNode: true}
reportUsage: {enabled: true, namespace: elsewhere}
stampOriginals: {enabled: true}
vpaObjects: {enabled: true}
overloadedTaint: {enabled: true}
evictPods: {enabled: true}
sizeAtCreation: {enabled: true}
tls: {mode: certManager}
networkPolicy: {enabled: true}
monitoring: {serviceMonitor: {enabled: true}, prometheusRule: {enabled: true}, dashboard: {enabled: true}}
`

func TestNamespace(t *testing.T) {
	t.Run("agents that report usage have a namespace of their own", agentsThatReportUsageHaveANamespaceOfTheirOwn)
	t.Run("all objects use the namespace of the release", allObjectsUseTheNamespaceOfTheRelease)
	t.Run("no object uses the name of the release", noObjectUsesTheNameOfTheRelease)
	t.Run("all objects use the name of the ServiceAccount", allObjectsUseTheNameOfTheServiceAccount)
	t.Run("the ConfigMap with the ratios may have another name", theConfigMapWithTheRatiosMayHaveAnotherName)
}

func allObjectsUseTheNamespaceOfTheRelease(t *testing.T) {
	manifest, err := rendered(t, "elsewhere", everything)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(manifest, "\nkind: Namespace\n") != 1 {
		t.Error("the namespace is created twice, or not at all")
	}
	if at := strings.Index(manifest, namespace); at >= 0 {
		t.Errorf("the default namespace is left in:\n%s", manifest[max(at-300, 0):at+100])
	}
	clusterScoped := map[any]bool{"Namespace": true, "ClusterRole": true, "ClusterRoleBinding": true, "PriorityClass": true, "MutatingWebhookConfiguration": true, "MutatingAdmissionPolicy": true, "MutatingAdmissionPolicyBinding": true, "ValidatingAdmissionPolicy": true, "ValidatingAdmissionPolicyBinding": true}
	for key, o := range parsed(t, manifest) {
		want := any("elsewhere")
		if clusterScoped[o["kind"]] {
			want = nil
		}
		if got := o["metadata"].(object)["namespace"]; got != want {
			t.Errorf("%s is in namespace %v, want %v", key, got, want)
		}
	}
}

func noObjectUsesTheNameOfTheRelease(t *testing.T) {
	by := func(release string) string {
		return must(t, everything, "helm", "template", release, chart, "--namespace", "elsewhere", "--values", "-")
	}
	if by("another") != by(chart) {
		t.Error("the manifests of two releases differ")
	}
}

func agentsThatReportUsageHaveANamespaceOfTheirOwn(t *testing.T) {
	for _, create := range []bool{true, false} {
		manifest, err := rendered(t, "elsewhere", fmt.Sprintf("reportUsage: {enabled: true, namespace: agents, createNamespace: %v}", create))
		if err != nil {
			t.Fatal(err)
		}
		objects := parsed(t, manifest)
		if created := objects["v1 Namespace <nil>/agents"] != nil; created != create {
			t.Errorf("the namespace is created: %v, want %v", created, create)
		}
		agent := objects["apps/v1 DaemonSet agents/workload-resizer-report-usage"]
		if agent == nil {
			t.Fatal("there is no agent in the namespace")
		}
		pod := agent["spec"].(object)["template"].(object)["spec"].(object)
		args := anys(list(pod["containers"])[0]["args"])
		for _, want := range []any{"--server=workload-resizer.elsewhere.svc:443", "--server-ca-config-map=elsewhere/workload-resizer-ca"} {
			if !slices.Contains(args, want) {
				t.Errorf("the agent has the arguments %v, want %v", args, want)
			}
		}
		for _, binding := range []string{"RoleBinding elsewhere", "ClusterRoleBinding <nil>"} {
			subject := list(objects["rbac.authorization.k8s.io/v1 "+binding+"/workload-resizer-report-usage"]["subjects"])[0]
			if subject["namespace"] != "agents" {
				t.Errorf("the %s is for %v", binding, subject)
			}
		}
	}
}

func allObjectsUseTheNameOfTheServiceAccount(t *testing.T) {
	manifest, err := rendered(t, namespace, everything)
	if err != nil {
		t.Fatal(err)
	}
	objects, subjects := parsed(t, manifest), 0
	for key, o := range objects {
		for _, subject := range list(o["subjects"]) {
			switch name := subject["name"]; name {
			case "resizer":
				subjects++
			case "workload-resizer-bench-node", "workload-resizer-report-usage", "workload-resizer-viewer":
			default:
				t.Errorf("%s is for %v", key, name)
			}
		}
	}
	if subjects != 8 {
		t.Errorf("%d bindings are for the server, want 8: for its three Roles and its five ClusterRoles", subjects)
	}
	if objects["v1 ServiceAccount "+namespace+"/resizer"] == nil || objects["v1 ServiceAccount "+namespace+"/workload-resizer"] != nil {
		t.Error("the chart does not create the named ServiceAccount")
	}
	pod := objects["apps/v1 Deployment "+namespace+"/workload-resizer"]["spec"].(object)["template"].(object)["spec"].(object)
	if pod["serviceAccountName"] != "resizer" {
		t.Errorf("the server uses the ServiceAccount %v", pod["serviceAccountName"])
	}
	for _, account := range strings.Split(manifest, "system:serviceaccount:"+namespace+":")[1:] {
		if !strings.HasPrefix(account, "resizer") && !strings.HasPrefix(account, "workload-resizer-bench-node") {
			t.Errorf("a policy is for %s", account[:40])
		}
	}
}

func theConfigMapWithTheRatiosMayHaveAnotherName(t *testing.T) {
	manifest, err := rendered(t, namespace, everything)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(manifest, "workload-resizer-config") {
		t.Error("the default name is left in the manifest")
	}
	objects := parsed(t, manifest)
	if data := objects["v1 ConfigMap "+namespace+"/speeds"]["data"].(object)["config.yaml"]; data != "baselineNodeType: n2d\nnodeTypes:\n  n2d: {cpuPerf: 1, memPerf: 1}\n" {
		t.Errorf("the configuration is %q", data)
	}
	readable := false
	for _, rule := range list(objects["rbac.authorization.k8s.io/v1 Role "+namespace+"/workload-resizer"]["rules"]) {
		for _, name := range anys(rule["resourceNames"]) {
			readable = readable || name == "speeds"
		}
	}
	if !readable {
		t.Error("the server is not allowed to read the ConfigMap")
	}
}

func anys(v any) []any { all, _ := v.([]any); return all }

// list returns the objects of a list.
func list(v any) []object {
	var all []object
	for _, entry := range anys(v) {
		all = append(all, entry.(object))
	}
	return all
}
