package plans

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const manifestNotes = "warning: pod/bare: a pod without a controller is never resized\nnot planned, because these kinds have no pods, or none that are known: Service web, ConfigMap web\n"

const manifestText = "kind: Deployment\n"

// manifestPlans returns the plans of a Deployment, and of a pod without a controller.
func manifestPlans() *workloadresizerv1.PreviewManifestResponse {
	of := func(plan *workloadresizerv1.Plan, nodeType string) *workloadresizerv1.Plan {
		plan.Pod, plan.Node, plan.NodeType = "web", "", nodeType
		return plan
	}
	onBaseline := of(cmdtest.Web(), "n2d")
	onBaseline.Decision, onBaseline.CpuFactor = workloadresizerv1.Decision_DECISION_ALIGNED, new(1.0)
	onBaseline.Reasons = []*workloadresizerv1.PlanReason{{Code: "AlreadyAligned", Message: "the pod has the size for node type n2d"}}
	return &workloadresizerv1.PreviewManifestResponse{
		Objects: []*workloadresizerv1.ManifestPlan{
			{Kind: "Deployment", Namespace: "shop", Name: "web", Plans: []*workloadresizerv1.Plan{onBaseline, of(cmdtest.Web(), "n4")}},
			{Kind: "Pod", Name: "bare", Warnings: []string{"a pod without a controller is never resized"}, Plans: []*workloadresizerv1.Plan{of(cmdtest.Bare(), "n4")}},
		},
		Ignored: []string{"Service web", "ConfigMap web"},
	}
}

func TestManifest(t *testing.T) {
	t.Run("plans a manifest", plansAManifest)
	t.Run("says once that usage is not known", saysOnceThatUsageIsNotKnown)
	t.Run("plans a manifest from standard input", plansAManifestFromStandardInput)
	t.Run("sends the namespace of objects that name none", sendsTheNamespaceOfObjectsThatNameNone)
	t.Run("reports the errors of a manifest", reportsTheErrorsOfAManifest)
	t.Run("plans a manifest offline", plansAManifestOffline)
}

func plansAManifest(t *testing.T) {
	server := cmdtest.Answering(cmdtest.Returns(manifestPlans()))
	address := server.Serve(t)
	file := filepath.Join(t.TempDir(), "deploy.yaml")
	if err := os.WriteFile(file, []byte(manifestText), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		golden, stderr string
		args           []string
		asked          *workloadresizerv1.PreviewManifestRequest
	}{
		{"manifest.table", manifestNotes, nil, &workloadresizerv1.PreviewManifestRequest{Manifest: manifestText}},
		{"manifest.wide", manifestNotes, []string{"-o", "wide", "--node-type", "n4,c3"}, &workloadresizerv1.PreviewManifestRequest{Manifest: manifestText, NodeTypes: []string{"n4", "c3"}}},
		{"manifest.color", manifestNotes, []string{"--color=always"}, &workloadresizerv1.PreviewManifestRequest{Manifest: manifestText}},
		{"manifest.json", "", []string{"-o", "json", "--what-if-baseline", "n4"}, &workloadresizerv1.PreviewManifestRequest{Manifest: manifestText, WhatIf: &workloadresizerv1.WhatIf{BaselineNodeType: "n4"}}},
		{"manifest.yaml", "", []string{"-o", "yaml"}, &workloadresizerv1.PreviewManifestRequest{Manifest: manifestText}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"plan", "-f", file, "--server", address}, tc.args...)...)
			if code != command.ExitDifferences || stderr != tc.stderr {
				t.Errorf("exit %d, stderr %q, want %q", code, stderr, tc.stderr)
			}
			if diff := cmp.Diff(tc.asked, server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func sendsTheNamespaceOfObjectsThatNameNone(t *testing.T) {
	server := cmdtest.Answering(cmdtest.Returns(manifestPlans()))
	address := server.Serve(t)
	file := cmdtest.File(t, "deploy.yaml", []byte(manifestText))
	kubeconfig := "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u, namespace: shop}}], clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}], users: [{name: u}]}"
	t.Setenv("KUBECONFIG", cmdtest.File(t, "kubeconfig", []byte(kubeconfig)))
	for want, args := range map[string][]string{"shop": nil, "else": {"-n", "else"}} {
		code, _, stderr := program.Shell(t.Context(), append([]string{"plan", "-f", file, "--server", address}, args...)...)
		asked, _ := server.LastRequest().(*workloadresizerv1.PreviewManifestRequest)
		if code != command.ExitDifferences || asked.GetNamespace() != want {
			t.Errorf("exit %d, namespace %q, want %q; stderr %s", code, asked.GetNamespace(), want, stderr)
		}
	}
}

func saysOnceThatUsageIsNotKnown(t *testing.T) {
	configuration := cmdtest.File(t, "config.yaml", []byte("baselineNodeType: n2d\nnodeTypes: {n2d: {cpuPerf: 1, memPerf: 1}}\noverrides:\n"+
		"- {name: shop, match: {namespace: shop}, demand: {from: usage, mode: apply}}\n- {name: new, match: {namespace: new}, demand: {from: usage, mode: initial}}\n"))
	const note = "by usage, which only a server knows"
	for namespace, want := range map[string]int{"shop": 1, "new": 1, "else": 0} {
		const web = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: [{name: app, resources: {requests: {cpu: 1}}}]}}}}"
		text := web + "\n---\n" + strings.ReplaceAll(web, "name: web", "name: second")
		args := []string{"plan", "-f", cmdtest.File(t, "deploy.yaml", []byte(text)), "--config", configuration, "-n", namespace}
		code, _, stderr := program.Shell(t.Context(), args...)
		if code == command.ExitError || strings.Count(stderr, note) != want {
			t.Errorf("namespace %s: exit %d, stderr %q", namespace, code, stderr)
		}
		code, stdout, stderr := program.Shell(t.Context(), append(args, "-o", "json")...)
		if code == command.ExitError || strings.Contains(stderr, note) || strings.Contains(stdout, `"followsUsage": true`) != (want > 0) {
			t.Errorf("namespace %s: exit %d, stderr %q, stdout %s", namespace, code, stderr, stdout)
		}
	}
}

func plansAManifestFromStandardInput(t *testing.T) {
	server := cmdtest.Answering(cmdtest.Returns(&workloadresizerv1.PreviewManifestResponse{Objects: manifestPlans().GetObjects()[1:]}))
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: bytes.NewBufferString(manifestText), Out: &out, ErrOut: &errOut}
	// An object that is skipped on every node type is not a difference.
	if code := program(t.Context(), streams, []string{"plan", "-f", "-", "--server", server.Serve(t)}); code != command.ExitOK {
		t.Errorf("exit %d: %s", code, errOut.String())
	}
	asked := &workloadresizerv1.PreviewManifestRequest{Manifest: manifestText}
	if diff := cmp.Diff(asked, server.LastRequest(), protocmp.Transform()); diff != "" {
		t.Errorf("wrong request (-want +got):\n%s", diff)
	}
}

func reportsTheErrorsOfAManifest(t *testing.T) {
	server := &cmdtest.Fake{Err: cmdtest.WithReason(codes.InvalidArgument, "INVALID_ARGUMENT", "no objects")}
	address := server.Serve(t)
	for _, tc := range []struct{ name, file, want string }{
		{"a missing file", "missing.yaml", "error: read the manifest: missing.yaml does not exist: check the name of the file\n"},
		{"the server's error", "manifest_test.go", "error: no objects\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), "plan", "-f", tc.file, "--server", address)
			if code != command.ExitError || stdout != "" || stderr != tc.want {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, tc.want)
			}
		})
	}
}

// With a configuration, no server is used.
func plansAManifestOffline(t *testing.T) {
	var with string
	var refused error
	real := planOffline
	t.Cleanup(func() { planOffline = real })
	planOffline = func(_ context.Context, configuration []byte, _ []schema.GroupResource, _ *workloadresizerv1.PreviewManifestRequest) (*workloadresizerv1.PreviewManifestResponse, error) {
		with = string(configuration)
		return manifestPlans(), refused
	}
	plan := func(config string) (int, string, string) {
		return program.Shell(t.Context(), "plan", "-f", "manifest_test.go", "--config", filepath.Join("..", "configs", "testdata", config))
	}
	for _, config := range []string{"config.yaml", "manifests.yaml"} {
		t.Run("with "+config, func(t *testing.T) {
			code, stdout, stderr := plan(config)
			if code != command.ExitDifferences || stderr != manifestNotes || !strings.Contains(with, "baselineNodeType:") || strings.Contains(with, "kind:") {
				t.Errorf("exit %d, stderr %q, planned with\n%s", code, stderr, with)
			}
			cmdtest.Golden(t, "manifest.table", stdout)
		})
	}
	refused = cmdtest.WithReason(codes.InvalidArgument, "INVALID_ARGUMENT", "no objects")
	for _, tc := range []struct{ name, config, want string }{
		{"an error of the manifest", "config.yaml", "no objects\n"},
		{"a missing configuration", "none.yaml", "../configs/testdata/none.yaml does not exist: check the name of the file\n"},
		{"a configuration that is not valid", "invalid.yaml", "../configs/testdata/invalid.yaml is not valid: nodeTypes.n2d.cpuPerf: line 3: must be a finite number above 0, not \"0\"; " +
			"overrides[0].match: line 6: must set namespace, computeClass, podLabel or podAnnotation; overrides[0].bounds.cpu: line 7: min 2 > max 1; " +
			"see \"resizectl config validate -f ../configs/testdata/invalid.yaml\"\n"},
		{"several configurations", "manifests-invalid.yaml", "../configs/testdata/manifests-invalid.yaml has 3 configurations, and none is in a ConfigMap named workload-resizer-config: use a file with one\n"},
		{"no configuration", "no-config.yaml", "../configs/testdata/no-config.yaml is not valid: none of the manifests is a ConfigMap with the key config.yaml; " +
			"see \"resizectl config validate -f ../configs/testdata/no-config.yaml\"\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, stdout, stderr := plan(tc.config)
			if code != command.ExitError || stdout != "" || stderr != "error: "+tc.want {
				t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, stdout, stderr, tc.want)
			}
		})
	}
}
