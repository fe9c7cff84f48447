package main

import (
	"slices"
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
	for _, args := range [][]string{nil, {"--kubeconfig", "x"}, {"--grpc-bind-address", "[::1]:0"}, {"--grpc-bind-address", "localhost:7443", "--node-type-label", "pool", "-v", "2"}, {"--ratio-sources", "configmap"}, {"--pprof-bind-address", "unix:///run/profiles.sock", "--tls-self-signed"}, {"--pprof-bind-address", "127.0.0.1:6060", "--tracing-endpoint", "collector:4317", "--tracing-insecure"}, {"--ratio-sources", "configmap,override"}, {"--leader-lease-duration", "3s"}} {
		if err := parse(t, args...).validate(); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Run("serves probes to other machines only in a cluster", servesProbesToOtherMachinesOnlyInACluster)
	t.Run("reports all invalid flags together", reportsAllInvalidFlagsTogether)
	t.Run("allows plaintext beyond loopback only on request", allowsPlaintextBeyondLoopbackOnlyOnRequest)
	t.Run("issues the certificate for the Service unless names are given", issuesTheCertificateForTheServiceUnlessNamesAreGiven)
	t.Run("needs no credentials only from callers on this machine", needsNoCredentialsOnlyFromCallersOnThisMachine)
	t.Run("profiles need no credentials only on a Unix socket", profilesNeedNoCredentialsOnlyOnAUnixSocket)
	t.Run("listens on a Unix socket by default, but on loopback with TLS", listensOnAUnixSocketByDefaultButOnLoopbackWithTLS)
}

func listensOnAUnixSocketByDefaultButOnLoopbackWithTLS(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/1000")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{nil, "unix:///run/user/1000/workload-resizer.sock"},
		{[]string{"--standalone", "--config", "c"}, "unix:///run/user/1000/workload-resizer.sock"},
		{[]string{"--tls-self-signed"}, "127.0.0.1:7443"},
		{[]string{"--insecure-plaintext"}, "127.0.0.1:7443"},
		{[]string{"--grpc-bind-address", "127.0.0.1:1"}, "127.0.0.1:1"},
	} {
		if got := parse(t, tc.args...).grpcAddress; got != tc.want {
			t.Errorf("%q: %s, want %s", tc.args, got, tc.want)
		}
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if err := parse(t).validate(); err == nil || !strings.Contains(err.Error(), "--grpc-bind-address: must be set") {
		t.Errorf("without any directory: %v", err)
	}
}

func servesProbesToOtherMachinesOnlyInACluster(t *testing.T) {
	if got := parse(t).httpAddress; got != ":8080" {
		t.Errorf("in a cluster: %s", got)
	}
	if got := parse(t, "--kubeconfig", "x").httpAddress; got != "127.0.0.1:7444" {
		t.Errorf("outside a cluster: %s", got)
	}
	if got := parse(t, "--http-bind-address", "127.0.0.1:1").httpAddress; got != "127.0.0.1:1" {
		t.Errorf("with --http-bind-address: %s", got)
	}
}

func reportsAllInvalidFlagsTogether(t *testing.T) {
	for _, tc := range []struct{ args, want []string }{
		{[]string{"--workers", "0", "--kube-api-qps", "0", "--kube-api-burst", "0"}, []string{"--workers: must be at least 1", "--kube-api-qps: must be a number above 0", "--kube-api-burst: must be at least 1"}},
		{[]string{"--kube-api-qps", "NaN"}, []string{"--kube-api-qps: must be a number above 0"}},
		{[]string{"--config-namespace", "A/B", "--config-name", ""}, []string{`--config-namespace: "A/B" is not a valid namespace`, "--config-name: "}},
		{[]string{"--config-name", "workload-resizer-holds"}, []string{`--config-name: "workload-resizer-holds" is the name of another ConfigMap of the server`}},
		{[]string{"--name-prefix", "a", "--config-name", "a-usage-0-2"}, []string{`--config-name: "a-usage-0-2" is the name of another ConfigMap of the server`}},
		{[]string{"--name-prefix", "A"}, []string{`--name-prefix: "A" is not a valid beginning of a name`}},
		{[]string{"--ratio-sources", "override"}, []string{"--ratio-sources: must include configmap"}},
		{[]string{"--ratio-sources", "benchmarks,configmap"}, []string{`--ratio-sources: "benchmarks" is not a source of ratios: use override, configmap, benchmark, production`}},
		{[]string{"--ratio-sources", "configmap,override,configmap"}, []string{"--ratio-sources: names configmap twice"}},
		{[]string{"--node-type-label", "a b"}, []string{`--node-type-label: "a b" is not a valid label`}},
		{[]string{"--workload-kinds", "jobs.batch,secrets,pods,Rollout"}, []string{`--workload-kinds: "secrets": Secrets control no pods and are never read; "pods": pods do not control other pods; "Rollout": must be the lowercase plural of a kind, followed by its API group, such as rollouts.argoproj.io`}},
		{[]string{"--workload-kinds", "rollouts.v1alpha1.argoproj.io"}, []string{`--workload-kinds: "rollouts.v1alpha1.argoproj.io": must not have a version, which is discovered: use rollouts.argoproj.io`}},
		{[]string{"--owner-kinds", ""}, []string{"--owner-kinds: must name at least one kind"}},
		{[]string{"--owner-kinds", "ReplicaSet,,statefulsets.apps.kruise.io,StatefulSet.v1beta1.apps.kruise.io,Job.Batch"}, []string{`--owner-kinds: "": must not be empty; "statefulsets.apps.kruise.io": must be a kind as in manifests, followed by its API group, such as CloneSet.apps.kruise.io; ` +
			`"StatefulSet.v1beta1.apps.kruise.io": must not have a version: use StatefulSet.apps.kruise.io; "Job.Batch": "Batch" is not an API group`}},
		{[]string{"--log-format", "xml", "--verbosity", "-1"}, []string{"--log-format: must be text or json", "--verbosity: must be between 0 and 6, not -1"}},
		{[]string{"-v", "7"}, []string{"--verbosity: must be between 0 and 6, not 7: above, requests to the API server are logged with the tokens of callers"}},
		{[]string{"--grpc-bind-address", "7443"}, []string{"--grpc-bind-address: \"7443\" is not host:port with a port from 0 to 65535, nor unix:///PATH"}},
		{[]string{"--grpc-bind-address", "127.0.0.1:https"}, []string{"--grpc-bind-address: \"127.0.0.1:https\" is not host:port with a port from 0 to 65535"}},
		{[]string{"--grpc-bind-address", "unix://resizer.sock"}, []string{"--grpc-bind-address: \"unix://resizer.sock\" is not unix:///PATH with the absolute path of a socket"}},
		{[]string{"--grpc-bind-address", "unix:resizer.sock"}, []string{"--grpc-bind-address: \"unix:resizer.sock\" is not unix:///PATH with the absolute path of a socket"}},
		{[]string{"--grpc-bind-address", "unix:/run/resizer.sock", "--insecure-plaintext"}, []string{"--grpc-bind-address: \"unix:/run/resizer.sock\" is not unix:///PATH with the absolute path of a socket"}},
		{[]string{"--grpc-bind-address", "unix-abstract:resizer", "--insecure-plaintext"}, []string{"--grpc-bind-address: \"unix-abstract:resizer\" is an abstract socket, which every user of the machine can reach: use unix:///PATH"}},
		{[]string{"--grpc-bind-address", "unix:///" + strings.Repeat("x", 107)}, []string{"has a path of 108 bytes, and that of a socket may have 107: use a shorter one"}},
		{[]string{"--pprof-bind-address", "unix:profiles.sock"}, []string{"--pprof-bind-address: \"unix:profiles.sock\" is not unix:///PATH with the absolute path of a socket"}},
		{[]string{"--http-bind-address", "unix:///run/probes.sock"}, []string{"--http-bind-address: \"unix:///run/probes.sock\" is not host:port"}},
		{[]string{"--max-connections", "-1", "--max-previews", "-1", "--max-watches-per-caller", "-2"}, []string{"--max-connections: must be at least 1, or 0 for no limit, not -1", "--max-previews: must be at least 1", "--max-watches-per-caller: must be at least 1, or 0 for no limit, not -2"}},
		{[]string{"--max-calls-per-second", "-1", "--max-calls-burst", "0"}, []string{"--max-calls-per-second: must be a number of calls", "--max-calls-burst: must be at least 1, not 0"}},
		{[]string{"--kube-api-qps", "Inf"}, []string{"--kube-api-qps: must be a number above 0"}},
		{[]string{"--grpc-bind-address", "unix:///run/resizer.sock", "--tls-self-signed"}, []string{"--grpc-bind-address: a Unix socket cannot be combined with TLS"}},
		{[]string{"--tls-cert-file", "a"}, []string{"--tls-cert-file: requires --tls-private-key-file"}},
		{[]string{"--tls-private-key-file", "a", "--client-ca-file", "b"}, []string{"--tls-cert-file: ", "--client-ca-file: client certificates require TLS"}},
		{[]string{"--tls-private-key-file", "a", "--tls-cert-file", "b", "--insecure-plaintext"}, []string{"--insecure-plaintext: cannot be combined with --tls-cert-file"}},
		{[]string{"--tls-self-signed", "--tls-cert-file", "a", "--tls-private-key-file", "b"}, []string{"--tls-self-signed: cannot be combined with --tls-cert-file"}},
		{[]string{"--tls-self-signed", "--insecure-plaintext"}, []string{"--insecure-plaintext: cannot be combined with --tls-self-signed"}},
		{[]string{"--tls-self-signed", "--tls-dns-names", "a b"}, []string{`--tls-dns-names: "a b" is not a valid DNS name`}},
		{[]string{"--token-audiences", ""}, []string{"--token-audiences: must name at least one audience"}},
		{[]string{"--leader-lease-duration", "3500ms"}, []string{"--leader-lease-duration: must be whole seconds, at least 3s, not 3.5s"}},
		{[]string{"--leader-lease-duration", "2s"}, []string{"--leader-lease-duration: must be whole seconds, at least 3s, not 2s"}},
		{[]string{"--pprof-bind-address", "6060"}, []string{"--pprof-bind-address: \"6060\" is not host:port"}},
		{[]string{"--pprof-bind-address", ":6060"}, []string{"--pprof-bind-address: \":6060\" is reachable from other machines"}},
		{[]string{"--tracing-endpoint", "https://collector:4317"}, []string{"--tracing-endpoint: \"https://collector:4317\" is not host:port"}},
		{[]string{"--tracing-insecure"}, []string{"--tracing-insecure: requires --tracing-endpoint"}},
		{[]string{"--tracing-endpoint", "a:1", "--tracing-sample-ratio", "1.5"}, []string{"--tracing-sample-ratio: must be from 0 to 1, not 1.5"}},
		{[]string{"--tracing-endpoint", "a:1", "--tracing-sample-ratio", "NaN"}, []string{"--tracing-sample-ratio: "}},
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

func allowsPlaintextBeyondLoopbackOnlyOnRequest(t *testing.T) {
	for _, address := range []string{":7443", "0.0.0.0:7443", "10.0.0.1:7443", "example.com:7443", "[::]:7443"} {
		if err := parse(t, "--grpc-bind-address", address).validate(); err == nil || !strings.Contains(err.Error(), "--grpc-bind-address") || !strings.Contains(err.Error(), "set --tls-cert-file") {
			t.Errorf("%s: %v", address, err)
		}
		for _, args := range [][]string{{"--insecure-plaintext"}, {"--tls-cert-file", "a", "--tls-private-key-file", "b"}, {"--tls-cert-file", "a", "--tls-private-key-file", "b", "--client-ca-file", "c"}, {"--tls-self-signed"}, {"--tls-self-signed", "--client-ca-file", "c", "--dry-run"}} {
			if err := parse(t, append(args, "--grpc-bind-address", address)...).validate(); err != nil {
				t.Errorf("%s with %v: %v", address, args, err)
			}
		}
	}
}

func issuesTheCertificateForTheServiceUnlessNamesAreGiven(t *testing.T) {
	for _, tc := range []struct{ args, want []string }{
		{nil, []string{"workload-resizer.workload-resizer-system.svc", "workload-resizer.workload-resizer-system.svc.cluster.local"}},
		{[]string{"--config-namespace", "a"}, []string{"workload-resizer.a.svc", "workload-resizer.a.svc.cluster.local"}},
		{[]string{"--tls-dns-names", "b.example.com,c"}, []string{"b.example.com", "c"}},
	} {
		if got := parse(t, tc.args...).selfSigned.dnsNames; !slices.Equal(got, tc.want) {
			t.Errorf("%q: %q, want %q", tc.args, got, tc.want)
		}
	}
}

func needsNoCredentialsOnlyFromCallersOnThisMachine(t *testing.T) {
	files := []string{"--tls-cert-file", "a", "--tls-private-key-file", "b"}
	for _, tc := range []struct {
		args []string
		want bool
	}{
		{nil, true},
		{[]string{"--grpc-bind-address", "unix:///run/resizer.sock"}, true},
		{[]string{"--grpc-bind-address", "localhost:0"}, true},
		{[]string{"--insecure-plaintext"}, true},
		{[]string{"--insecure-plaintext", "--grpc-bind-address", ":7443"}, false},
		{files, false},
		{append(files, "--grpc-bind-address", ":7443"), false},
		{[]string{"--tls-self-signed"}, false},
	} {
		if o := parse(t, tc.args...); o.local(o.grpcAddress) != tc.want {
			t.Errorf("%q: %v", tc.args, !tc.want)
		}
	}
}

func profilesNeedNoCredentialsOnlyOnAUnixSocket(t *testing.T) {
	for address, want := range map[string]bool{"unix:///run/profiles.sock": true, "127.0.0.1:6060": false, "[::1]:6060": false, "localhost:6060": false} {
		for _, args := range [][]string{nil, {"--insecure-plaintext"}, {"--tls-self-signed"}} {
			if o := parse(t, append(args, "--pprof-bind-address", address)...); o.localProfiles() != want {
				t.Errorf("%s with %q: %v", address, args, !want)
			}
		}
	}
}
