package plans

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/testing/protocmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const manifestNotes = "warning: pod/bare: a pod without a controller is never resized\nnot planned, because these kinds have no pods, or none that are known: Service web, ConfigMap web\n"

func TestManifest(t *testing.T) {
	t.Run("plans a manifest", plansAManifest)
	t.Run("plans a manifest from standard input", plansAManifestFromStandardInput)
	t.Run("reports the errors of a manifest", reportsTheErrorsOfAManifest)
	t.Run("plans a manifest offline", plansAManifestOffline)
}

func plansAManifest(t *testing.T) {
	server := &cmdtest.Server{}
	server.Resizing.Manifest = cmdtest.ManifestPlans()
	address := cmdtest.Serve(t, server)
	file := filepath.Join(t.TempDir(), "deploy.yaml")
	if err := os.WriteFile(file, []byte(cmdtest.ManifestText), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		golden, stderr string
		args           []string
		asked          *workloadresizerv1.PreviewManifestRequest
	}{
		{"manifest.table", manifestNotes, nil, &workloadresizerv1.PreviewManifestRequest{Manifest: cmdtest.ManifestText}},
		{"manifest.wide", manifestNotes, []string{"-o", "wide", "--node-type", "n4,c3"}, &workloadresizerv1.PreviewManifestRequest{Manifest: cmdtest.ManifestText, NodeTypes: []string{"n4", "c3"}}},
		{"manifest.color", manifestNotes, []string{"--color=always"}, &workloadresizerv1.PreviewManifestRequest{Manifest: cmdtest.ManifestText}},
		{"manifest.json", "", []string{"-o", "json", "--what-if-baseline", "n4"}, &workloadresizerv1.PreviewManifestRequest{Manifest: cmdtest.ManifestText, WhatIf: &workloadresizerv1.WhatIf{BaselineNodeType: "n4"}}},
		{"manifest.yaml", "", []string{"-o", "yaml"}, &workloadresizerv1.PreviewManifestRequest{Manifest: cmdtest.ManifestText}},
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

func plansAManifestFromStandardInput(t *testing.T) {
	server := &cmdtest.Server{}
	server.Resizing.Manifest = &workloadresizerv1.PreviewManifestResponse{Objects: cmdtest.ManifestPlans().GetObjects()[1:]}
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: bytes.NewBufferString(cmdtest.ManifestText), Out: &out, ErrOut: &errOut}
	// An object that is skipped on every node type is not a difference.
	if code := program(t.Context(), streams, []string{"plan", "-f", "-", "--server", cmdtest.Serve(t, server)}); code != command.ExitOK {
		t.Errorf("exit %d: %s", code, errOut.String())
	}
	asked := &workloadresizerv1.PreviewManifestRequest{Manifest: cmdtest.ManifestText}
	if diff := cmp.Diff(asked, server.LastRequest(), protocmp.Transform()); diff != "" {
		t.Errorf("wrong request (-want +got):\n%s", diff)
	}
}

func reportsTheErrorsOfAManifest(t *testing.T) {
	server := &cmdtest.Server{Err: cmdtest.WithReason(t, codes.InvalidArgument, "INVALID_ARGUMENT", "no objects")}
	address := cmdtest.Serve(t, server)
	for _, tc := range []struct{ name, file, want string }{
		{"a missing file", "missing.yaml", "error: read the manifest: stat missing.yaml: no such file or directory\n"},
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

// With a configuration, only the server in this process is used.
func plansAManifestOffline(t *testing.T) {
	server := &cmdtest.Server{}
	server.Resizing.Manifest = cmdtest.ManifestPlans()
	address := cmdtest.Serve(t, server)
	var started string
	stopped := false
	real := startStandalone
	t.Cleanup(func() { startStandalone = real })
	startStandalone = func(_ context.Context, configuration []byte) (*grpc.ClientConn, func() error, error) {
		started, stopped = string(configuration), false
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, nil, err
		}
		return conn, func() error { stopped = true; return conn.Close() }, nil
	}
	plan := func(config string) (int, string, string) {
		return program.Shell(t.Context(), "plan", "-f", "manifest_test.go", "--config", filepath.Join("..", "configs", "testdata", config))
	}
	for _, config := range []string{"config.yaml", "manifests.yaml"} {
		t.Run("with "+config, func(t *testing.T) {
			code, stdout, stderr := plan(config)
			if code != command.ExitDifferences || stderr != manifestNotes || !strings.Contains(started, "baselineNodeType:") || strings.Contains(started, "kind:") || !stopped {
				t.Errorf("exit %d, stopped %v, stderr %q, started with\n%s", code, stopped, stderr, started)
			}
			cmdtest.Golden(t, "manifest.table", stdout)
		})
	}
	server.Err = cmdtest.WithReason(t, codes.InvalidArgument, "INVALID_ARGUMENT", "no objects")
	for _, tc := range []struct{ name, config, want string }{
		{"an error of the manifest", "config.yaml", "no objects\n"},
		{"a missing configuration", "none.yaml", "read the configuration: open ../configs/testdata/none.yaml: no such file or directory\n"},
		{"a configuration that is not valid", "invalid.yaml", "../configs/testdata/invalid.yaml is not valid: nodeTypes.n2d.cpuPerf: line 3: must be a finite number above 0, not \"0\"; " +
			"overrides[0].match: line 6: must set computeClass, podLabel or podAnnotation; overrides[0].bounds.cpu: min 2 > max 1\n" +
			"see \"resizectl config validate -f ../configs/testdata/invalid.yaml\"\n"},
		{"several configurations", "manifests-invalid.yaml", "../configs/testdata/manifests-invalid.yaml has 3 configurations, and none is in a ConfigMap named workload-resizer-config: use a file with one\n"},
		{"no configuration", "no-config.yaml", "../configs/testdata/no-config.yaml is not valid: none of the manifests is a ConfigMap with the key config.yaml\n" +
			"see \"resizectl config validate -f ../configs/testdata/no-config.yaml\"\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			started, stopped = "", false
			code, stdout, stderr := plan(tc.config)
			if code != command.ExitError || stdout != "" || stderr != "error: "+tc.want || stopped != (started != "") {
				t.Errorf("exit %d, stopped %v, stdout %q, stderr %q; want %q", code, stopped, stdout, stderr, tc.want)
			}
		})
	}
}
