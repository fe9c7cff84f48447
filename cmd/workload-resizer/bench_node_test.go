package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

func TestBenchNode(t *testing.T) {
	t.Run("rejects invalid flags before measuring", rejectsInvalidFlagsBeforeMeasuring)
	t.Run("accepts the arguments of the DaemonSet", acceptsTheArgumentsOfTheDaemonSet)
	t.Run("ends immediately when it is canceled", endsImmediatelyWhenItIsCanceled)
	t.Run("appends samples as lines", appendsSamplesAsLines)
}

func rejectsInvalidFlagsBeforeMeasuring(t *testing.T) {
	for _, tc := range []struct{ name, args, says string }{
		{"samples without a node type", "--output=-", "--output: samples must name the node type"},
		{"a node type without --output", "--node-type=n4", "--node-type: requires --output"},
		{"a node type that no sample can have", "--node-type=n4@Intel-6-207 --output=-", "--node-type: must be up to 63 letters"},
		{"an output file that cannot be written", "--node-type=n4 --output=/proc/no/samples", "--output: open /proc/no/samples"},
		{"a token file that cannot be read", "--server=localhost:1 --token-file=/proc/no/token", "--token-file: open /proc/no/token"},
		{"an output file and a server", "--output=- --node-type=n4 --server=localhost:1", "--output: cannot be combined with --server"},
		{"a token without a server", "--token-file=token", "--token-file: requires --server"},
		{"a period below an hour", "--every=1m --server=localhost:1", "--every: must be 0 or at least 1h0m0s"},
		{"a period without a destination", "--every=24h", "--every: requires a destination"},
		{"a state file for a single run", "--state-file=state", "--state-file: requires --every"},
		{"a kubeconfig without --label-node", "--kubeconfig=config", "--kubeconfig: requires --label-node"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := newCommand()
			cmd.SetArgs(append([]string{"bench-node"}, strings.Fields(tc.args)...))
			if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
		})
	}
}

// daemonSetArgs returns the arguments of the DaemonSet in a component.
func daemonSetArgs(t *testing.T, component string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "deploy", "components", component, "daemonset.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var set appsv1.DaemonSet
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for set.Kind != "DaemonSet" {
		document, err := documents.Read()
		if err != nil {
			t.Fatal(err)
		}
		set = appsv1.DaemonSet{}
		if err := yaml.Unmarshal(document, &set); err != nil {
			t.Fatal(err)
		}
	}
	return set.Spec.Template.Spec.Containers[0].Args
}

func acceptsTheArgumentsOfTheDaemonSet(t *testing.T) {
	// The component cpu-model-label adds this argument.
	args := append(daemonSetArgs(t, "bench-node"), "--label-node")
	cmd, flags, err := newCommand().Find(args)
	if err != nil || cmd.Name() != "bench-node" {
		t.Fatalf("%v is %s, %v", args, cmd.Name(), err)
	}
	o := &benchNodeOptions{}
	cmd = newBenchNodeCommand()
	cmd.ResetFlags()
	o.addTo(cmd.Flags())
	if err := cmd.ParseFlags(flags); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NODE_NAME", "n4-1")
	if err := errors.Join(o.complete(), o.validate()); err != nil {
		t.Fatal(err)
	}
	if o.nodeName != "n4-1" || o.every != 24*time.Hour || !o.labelNode || o.server == "" {
		t.Errorf("got %+v", o)
	}
}

func endsImmediatelyWhenItIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cmd := newCommand()
	cmd.SetErr(&bytes.Buffer{})
	output := filepath.Join(t.TempDir(), "samples")
	cmd.SetArgs([]string{"bench-node", "--node-type=n4", "--output", output})
	began := time.Now()
	if err := cmd.ExecuteContext(ctx); err == nil {
		t.Error("measured although it was canceled")
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	// An empty file would look like a result, which "resizectl benchmark import" rejects.
	if _, err := os.Stat(output); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the output exists: %v", err)
	}
}

func appendsSamplesAsLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "samples.json")
	want := []sample.Sample{{ID: "a", NodeType: "n4", Score: 1.5}, {ID: "b", NodeType: "n4", Score: 2}}
	for _, s := range want {
		if err := write(file, nil, []sample.Sample{s}); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var i int
	for line := range strings.Lines(string(content)) {
		var got sample.Sample
		if err := json.Unmarshal([]byte(line), &got); err != nil || got != want[i] {
			t.Errorf("line %d: %+v, %v", i, got, err)
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d lines", i)
	}
	if err := write(filepath.Join(file, "no-directory"), nil, want); err == nil || !strings.Contains(err.Error(), "--output: ") {
		t.Errorf("got %v", err)
	}
}
