package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestStandalone(t *testing.T) {
	t.Run("flags of a cluster and of none do not mix", flagsOfAClusterAndOfNoneDoNotMix)
	t.Run("every flag of a standalone server exists", everyFlagOfAStandaloneServerExists)
	t.Run("probes of a standalone server stay on the machine", probesOfAStandaloneServerStayOnTheMachine)
}

func flagsOfAClusterAndOfNoneDoNotMix(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want []string
	}{
		{"a server with a cluster", []string{"--kubeconfig", "x"}, nil},
		{"a standalone one", []string{"--standalone", "--config", "c", "--owner-kinds", "Job", "--sidecars", "--grpc-bind-address", "127.0.0.1:0", "--http-bind-address", ":1", "--log-format", "json", "-v", "1"}, nil},
		{"a file for a server with a cluster", []string{"--config", "c"}, []string{"--config: is for --standalone"}},
		{"no file", []string{"--standalone"}, []string{"--config: --standalone needs"}},
		{"flags of a cluster", []string{"--standalone", "--config", "c", "--kubeconfig", "x", "--dry-run", "--workers", "3"}, []string{"--kubeconfig: is for a server with a cluster", "--dry-run: ", "--workers: "}},
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

func everyFlagOfAStandaloneServerExists(t *testing.T) {
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	(&options{}).addTo(flags)
	for _, name := range standaloneFlags {
		if flags.Lookup(name) == nil {
			t.Errorf("there is no flag --%s", name)
		}
	}
}

func probesOfAStandaloneServerStayOnTheMachine(t *testing.T) {
	if got := parse(t, "--standalone", "--config", "c").httpAddress; got != "127.0.0.1:8080" {
		t.Errorf("listens on %s", got)
	}
}
