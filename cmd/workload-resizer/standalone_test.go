package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestStandalone(t *testing.T) {
	t.Run("rejects flags that do not fit the mode", rejectsFlagsThatDoNotFitTheMode)
	t.Run("names only flags that exist", namesOnlyFlagsThatExist)
	t.Run("serves probes to this machine only", servesProbesToThisMachineOnly)
}

func rejectsFlagsThatDoNotFitTheMode(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want []string
	}{
		{"a server with a cluster", []string{"--kubeconfig", "x"}, nil},
		{"a standalone server", []string{"--standalone", "--config", "c", "--owner-kinds", "Job", "--sidecars", "--grpc-bind-address", "127.0.0.1:0", "--http-bind-address", ":1", "--log-format", "json", "-v", "1"}, nil},
		{"a file for a server with a cluster", []string{"--config", "c"}, []string{"--config: requires --standalone"}},
		{"a standalone server without a file", []string{"--standalone"}, []string{"--config: --standalone requires"}},
		{"flags of a cluster for a standalone server", []string{"--standalone", "--config", "c", "--kubeconfig", "x", "--dry-run", "--workers", "3"}, []string{"--kubeconfig: requires a cluster", "--dry-run: ", "--workers: "}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := &options{}
			flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
			o.addTo(flags)
			if err := flags.Parse(tc.args); err != nil {
				t.Fatal(err)
			}
			err := o.validateStandalone(flags)
			if (err != nil) != (len(tc.want) > 0) {
				t.Fatalf("got %v", err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %s", err, want)
				}
			}
		})
	}
}

func namesOnlyFlagsThatExist(t *testing.T) {
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	(&options{}).addTo(flags)
	for _, name := range standaloneFlags {
		if flags.Lookup(name) == nil {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

func servesProbesToThisMachineOnly(t *testing.T) {
	if got := parse(t, "--standalone", "--config", "c").httpAddress; got != "127.0.0.1:7444" {
		t.Errorf("listens on %s", got)
	}
}
