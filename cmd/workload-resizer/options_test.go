package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func parse(t *testing.T, args ...string) *options {
	t.Helper()
	o := &options{}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.addTo(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	o.complete()
	return o
}

func TestDefaultsAreValid(t *testing.T) {
	for _, args := range [][]string{nil, {"--kubeconfig", "x"}, {"--grpc-bind-address", "[::1]:0"}, {"--grpc-bind-address", "localhost:7443", "--node-type-label", "pool", "-v", "2"}} {
		if err := parse(t, args...).validate(); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestProbesAreReachableFromOutsideOnlyInACluster(t *testing.T) {
	if got := parse(t).httpAddress; got != ":8080" {
		t.Errorf("in a cluster: %s", got)
	}
	if got := parse(t, "--kubeconfig", "x").httpAddress; got != "127.0.0.1:8080" {
		t.Errorf("elsewhere: %s", got)
	}
	if got := parse(t, "--http-bind-address", "127.0.0.1:1").httpAddress; got != "127.0.0.1:1" {
		t.Errorf("as told: %s", got)
	}
}

func TestBadFlagsAreNamedAllAtOnce(t *testing.T) {
	for _, tc := range []struct{ args, want []string }{
		{[]string{"--workers", "0", "--kube-api-qps", "0", "--kube-api-burst", "0"}, []string{"--workers: must be at least 1", "--kube-api-qps: must be above 0", "--kube-api-burst: must be at least 1"}},
		{[]string{"--kube-api-qps", "NaN"}, []string{"--kube-api-qps: must be above 0"}},
		{[]string{"--config-namespace", "A/B", "--config-name", ""}, []string{`--config-namespace: "A/B" is no namespace`, "--config-name: "}},
		{[]string{"--holds-name", "A"}, []string{`--holds-name: "A" is no name of a ConfigMap`}},
		{[]string{"--holds-name", "a", "--config-name", "a"}, []string{"--holds-name: must be another ConfigMap than --config-name"}},
		{[]string{"--node-type-label", "a b"}, []string{`--node-type-label: "a b" is no label`}},
		{[]string{"--owner-kinds", ""}, []string{"--owner-kinds: must name at least one kind"}},
		{[]string{"--log-format", "xml", "--verbosity", "-1"}, []string{"--log-format: must be text or json", "--verbosity: must not be negative"}},
		{[]string{"--http-bind-address", "8080"}, []string{"--http-bind-address: \"8080\" is not host:port"}},
	} {
		err := parse(t, tc.args...).validate()
		if err == nil {
			t.Errorf("%q is accepted", tc.args)
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", tc.args, err, want)
			}
		}
	}
}

func TestTheAPIListensOnLoopbackOnly(t *testing.T) {
	for _, address := range []string{":7443", "0.0.0.0:7443", "10.0.0.1:7443", "example.com:7443", "[::]:7443", "7443"} {
		if err := parse(t, "--grpc-bind-address", address).validate(); err == nil || !strings.Contains(err.Error(), "--grpc-bind-address") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
