package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/owners"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// options are the flags of serve.
type options struct {
	kubeconfig        string
	configNamespace   string
	configName        string
	namePrefix        string
	ratioSources      []string
	usage             usageOptions
	nodeTypeLabel     string
	ownerKinds        []string
	workloadKinds     []string
	sidecars          bool
	externallyResized string
	startupTaint      bool
	vpaObjects        bool
	evictPods         bool
	grpcAddress       string
	tlsCertFile       string
	tlsKeyFile        string
	selfSigned        selfSignedOptions
	creation          creationOptions
	clientCAFile      string
	tokenAudiences    []string
	insecurePlaintext bool
	httpAddress       string
	metricsAuthorized bool
	pprofAddress      string
	tracing           tracingOptions
	limits            limits.Limits
	reflection        bool
	channelz          bool
	workers           int
	qps               float32
	burst             int
	dryRun            bool
	events            bool
	election          electionOptions
	standalone        bool
	config            string
	logFormat         string
	verbosity         int
}

// maxVerbosity is the highest level of the log. From level 8 on, client-go logs the bodies of
// requests, and the bodies of TokenReviews contain tokens.
const maxVerbosity = 6

func (o *options) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file for the cluster, whose current context is used (default: the cluster that the process runs in)")
	flags.StringVar(&o.configNamespace, "config-namespace", "workload-resizer-system", "namespace of the ConfigMap with the ratios")
	flags.StringVar(&o.configName, "config-name", "workload-resizer-config", "name of the ConfigMap with the ratios")
	flags.StringVar(&o.namePrefix, "name-prefix", contract.AppName, "beginning of the names of the other ConfigMaps, of the Secret for --tls-self-signed and of the Lease, in the same namespace")
	flags.StringSliceVar(&o.ratioSources, "ratio-sources", ratioSources, "sources of ratios, highest precedence first")
	o.usage.addTo(flags)
	flags.StringVar(&o.nodeTypeLabel, "node-type-label", "", "the only node label that determines a node's type (default: the labels of the cloud providers, "+nodetype.LabelGCPMachineFamily+" first)")
	flags.StringSliceVar(&o.ownerKinds, "owner-kinds", plan.DefaultOwnerKinds, "kinds of controllers whose pods are resized: a built-in kind, such as ReplicaSet, or a kind with its API group, such as StatefulSet.apps.kruise.io. Any other name without a group matches the kind in every group. The value replaces the default")
	flags.StringSliceVar(&o.workloadKinds, "workload-kinds", owners.DefaultResources, "resources that may control a pod's controller, e.g. rollouts.argoproj.io; holds and autoscalers that name them apply to the pod, and manifests of them are planned. The server reads their metadata and needs the right to list and watch each of them. The value replaces the default")
	flags.BoolVar(&o.sidecars, "sidecars", false, "also resize restartable init containers")
	flags.StringVar(&o.externallyResized, "externally-resized", string(plan.LeaveExternal), "what to do if another actor set a container's cpu or memory: leave it; adopt it, that is, treat the size as right for this node and start later changes from it; or override it")
	flags.BoolVar(&o.startupTaint, "startup-taint", false, "remove the taint "+contract.StartupTaint+" from nodes when they are measured, and at the latest 31 seconds after they are ready; needs the right to patch nodes")
	flags.BoolVar(&o.vpaObjects, "vpa-objects", false, "let VerticalPodAutoscalers that name the recommender workload-resizer say what their targets need, and write their status; needs a source of usage and the right to patch verticalpodautoscalers/status")
	flags.BoolVar(&o.evictPods, "evict-pods", false, "evict pods whose node has no room for what they need, if another node has, where eviction.enabled in config.yaml says so; needs the right to create pods/eviction, to get volumes, their claims and CSINodes, and a ConfigMap")
	flags.StringVar(&o.grpcAddress, "grpc-bind-address", "", "address of the gRPC API: host:port, or unix:///PATH for a Unix socket that only this user can reach. Without TLS or --insecure-plaintext, the host must be a loopback address, where any program on this machine can do anything. The default is 127.0.0.1:7443 with TLS; otherwise workload-resizer.sock in $XDG_RUNTIME_DIR or the user's cache directory, where resizectl looks")
	flags.StringVar(&o.tlsCertFile, "tls-cert-file", "", "PEM file with the certificate of the gRPC API, followed by intermediates; read again when it changes")
	flags.StringVar(&o.tlsKeyFile, "tls-private-key-file", "", "PEM file with the private key of that certificate")
	o.selfSigned.addTo(flags)
	o.creation.addTo(flags)
	flags.StringVar(&o.clientCAFile, "client-ca-file", "", "PEM file with the certificate authorities for client certificates, which name users as the API server's do; without it, callers need tokens")
	flags.StringSliceVar(&o.tokenAudiences, "token-audiences", []string{"workload-resizer.io"}, "audiences for callers' tokens; each token must be for at least one of them")
	flags.BoolVar(&o.insecurePlaintext, "insecure-plaintext", false, "let other machines call the gRPC API and read profiles without TLS, where something else encrypts the traffic. Callers need tokens, except at a loopback address or Unix socket: anyone who reaches these, even through a proxy, can do anything")
	flags.StringVar(&o.httpAddress, "http-bind-address", "", "address of /livez, /readyz and /metrics (default: :8080 in a cluster, 127.0.0.1:7444 elsewhere)")
	flags.BoolVar(&o.metricsAuthorized, "metrics-authorization", false, "require a token with the right to get /metrics from callers of /metrics")
	flags.StringVar(&o.pprofAddress, "pprof-bind-address", "", "address of the profiles (pprof); empty serves none. With host:port, callers need a token or client certificate with the right to debug, and without TLS or --insecure-plaintext, the host must be a loopback address. unix:///PATH is a Unix socket that only this user can reach")
	o.tracing.addTo(flags)
	o.limits = limits.Default
	flags.Float64Var(&o.limits.CallsPerSecond, "max-calls-per-second", o.limits.CallsPerSecond, "API calls per second and caller, on average; 0 means no limit")
	flags.IntVar(&o.limits.CallBurst, "max-calls-burst", o.limits.CallBurst, "API calls that one caller may make in a burst")
	flags.IntVar(&o.limits.Previews, "max-previews", o.limits.Previews, "previews of many pods that run at the same time, for all callers together; 0 means no limit. One user can run half of them, and so can all ServiceAccounts of one namespace together; one ServiceAccount can run half of these, and one credential half again")
	flags.IntVar(&o.limits.WatchesPerCaller, "max-watches-per-caller", o.limits.WatchesPerCaller, "watches that one caller may have open at the same time, half of them with one credential of a shared account; 0 means no limit")
	flags.IntVar(&o.limits.Connections, "max-connections", o.limits.Connections, "connections that may be open at the same time to the API, and as many to the probes and metrics, and to the profiles; at most a quarter from unknown callers; 0 means no limit")
	flags.Uint32Var(&o.limits.StreamsPerConnection, "max-streams-per-connection", o.limits.StreamsPerConnection, "calls that may be open on one connection at the same time; 0 means no limit")
	flags.BoolVar(&o.reflection, "grpc-reflection", true, "let callers discover the API by reflection, as grpcurl does")
	flags.BoolVar(&o.channelz, "grpc-channelz", false, "let callers inspect the server's connections (channelz)")
	flags.IntVar(&o.workers, "workers", 16, "number of pods to process at the same time")
	flags.Float32Var(&o.qps, "kube-api-qps", 100, "requests per second to the API server, on average, of each kind: writes to pods, events, previews, reviews of callers, and others")
	flags.IntVar(&o.burst, "kube-api-burst", 200, "requests to the API server in a burst, of each kind as for --kube-api-qps")
	flags.BoolVar(&o.events, "events", true, "create events on pods and on rejected ConfigMaps; with false, only the log, the metrics and the API report these")
	flags.BoolVar(&o.dryRun, "dry-run", false, "plan and log, but write nothing to the cluster")
	o.election.addTo(flags)
	flags.BoolVar(&o.standalone, "standalone", false, "run without a cluster: serve the ratios of --config and plan manifests")
	flags.StringVar(&o.config, "config", "", "file with the ratios, for --standalone; read again when it changes")
	flags.StringVar(&o.logFormat, "log-format", "text", "format of the log: text or json")
	flags.IntVarP(&o.verbosity, "verbosity", "v", 0, "log verbosity: 0, 1 (adds each call and conflict) or 2 (adds each skipped pod and each resize that a node completed)")
}

// names returns the names of the server's objects.
func (o *options) names() contract.Names { return contract.NamesWith(o.namePrefix) }

// complete sets the defaults that depend on other flags.
func (o *options) complete() {
	o.selfSigned.complete(o.configNamespace)
	o.completeAddress()
	if o.httpAddress != "" {
		return
	}
	// In a cluster, the kubelet's probes come from outside the pod. Elsewhere, kubectl without a
	// kubeconfig would call port 8080, and take this server for the API server.
	o.httpAddress = ":8080"
	if o.kubeconfig != "" || o.standalone {
		o.httpAddress = "127.0.0.1:7444"
	}
}

// validate returns all problems with the flags.
func (o *options) validate() error {
	var errs []error
	reject := func(flag, format string, args ...any) {
		errs = append(errs, fmt.Errorf("--%s: %s", flag, fmt.Sprintf(format, args...)))
	}
	if problems := validation.IsDNS1123Label(o.configNamespace); len(problems) > 0 {
		reject("config-namespace", "%q is not a valid namespace: %s", o.configNamespace, problems[0])
	}
	if problems := validation.IsDNS1123Subdomain(o.configName); len(problems) > 0 {
		reject("config-name", "%q is not a valid ConfigMap name: %s", o.configName, problems[0])
	} else if o.names().ConfigMap(o.configName) {
		reject("config-name", "%q is the name of another ConfigMap of the server: use a different one, or a different --name-prefix", o.configName)
	}
	if problems := validation.IsDNS1123Label(o.namePrefix); len(problems) > 0 {
		reject("name-prefix", "%q is not a valid beginning of a name: %s", o.namePrefix, problems[0])
	}
	if err := validRatioSources(o.ratioSources); err != nil {
		reject("ratio-sources", "%v", err)
	}
	if o.nodeTypeLabel != "" {
		if problems := validation.IsQualifiedName(o.nodeTypeLabel); len(problems) > 0 {
			reject("node-type-label", "%q is not a valid label: %s", o.nodeTypeLabel, problems[0])
		}
	}
	if err := owners.CheckKinds(o.ownerKinds); err != nil {
		reject("owner-kinds", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if _, err := owners.ParseResources(o.workloadKinds); err != nil {
		reject("workload-kinds", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if !slices.Contains(plan.Externals, plan.External(o.externallyResized)) {
		reject("externally-resized", "must be leave, adopt or override, not %q", o.externallyResized)
	}
	o.validateAccess(reject)
	o.tracing.validate(reject)
	if l := &o.limits; !(l.CallsPerSecond >= 0) || math.IsInf(l.CallsPerSecond, 0) {
		reject("max-calls-per-second", "must be a number of calls, or 0 for no limit, not %v", l.CallsPerSecond)
	}
	if o.limits.CallBurst < 1 {
		reject("max-calls-burst", "must be at least 1, not %d", o.limits.CallBurst)
	}
	for _, most := range []struct {
		flag string
		of   int
	}{{"max-previews", o.limits.Previews}, {"max-watches-per-caller", o.limits.WatchesPerCaller}, {"max-connections", o.limits.Connections}} {
		if most.of < 0 {
			reject(most.flag, "must be at least 1, or 0 for no limit, not %d", most.of)
		}
	}
	if o.workers < 1 {
		reject("workers", "must be at least 1, not %d", o.workers)
	}
	if !(o.qps > 0) || math.IsInf(float64(o.qps), 0) {
		reject("kube-api-qps", "must be a number above 0, not %v", o.qps)
	}
	if o.burst < 1 {
		reject("kube-api-burst", "must be at least 1, not %d", o.burst)
	}
	o.election.validate(reject)
	o.creation.validate(o.encrypted(), reject)
	o.usage.validate(reject)
	if o.vpaObjects && len(o.usage.sources) == 0 {
		reject("vpa-objects", "needs a source of usage in --usage-sources")
	}
	if o.logFormat != "text" && o.logFormat != "json" {
		reject("log-format", "must be text or json, not %q", o.logFormat)
	}
	if o.verbosity < 0 || o.verbosity > maxVerbosity {
		reject("verbosity", "must be between 0 and %d, not %d: above, requests to the API server are logged with the tokens of callers", maxVerbosity, o.verbosity)
	}
	return errors.Join(errs...)
}
