package main

import (
	"errors"
	"fmt"
	"math"
	"net"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/reconciler"
)

// options are the flags of serve.
type options struct {
	kubeconfig        string
	configNamespace   string
	configName        string
	holdsName         string
	nodeTypeLabel     string
	ownerKinds        []string
	sidecars          bool
	externallyResized string
	realignRate       float64
	grpcAddress       string
	httpAddress       string
	workers           int
	qps               float32
	burst             int
	dryRun            bool
	logFormat         string
	verbosity         int
}

func (o *options) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file of the cluster; without it, the cluster that the process runs in")
	flags.StringVar(&o.configNamespace, "config-namespace", "workload-resizer-system", "namespace of the ConfigMap with the ratios")
	flags.StringVar(&o.configName, "config-name", "workload-resizer-config", "name of the ConfigMap with the ratios")
	flags.StringVar(&o.holdsName, "holds-name", "workload-resizer-holds", "name of the ConfigMap with the pods that are restored or paused, in the same namespace")
	flags.StringVar(&o.nodeTypeLabel, "node-type-label", "", "the only node label that tells a node's type (default: the labels of the clouds, "+nodetype.LabelGCPMachineFamily+" first)")
	flags.StringSliceVar(&o.ownerKinds, "owner-kinds", reconciler.DefaultOwnerKinds, "kinds of controllers whose pods are resized")
	flags.BoolVar(&o.sidecars, "sidecars", false, "resize restartable init containers too")
	flags.StringVar(&o.externallyResized, "externally-resized", string(reconciler.LeaveExternal), "what becomes of pods that somebody else resized: leave, adopt (the size is right here; later changes start from it) or override")
	flags.Float64Var(&o.realignRate, "realign-rate", 20, "how many pods that were sized before are sized anew per second, the most wrong first; 0 is no limit")
	flags.StringVar(&o.grpcAddress, "grpc-bind-address", "127.0.0.1:7443", "address of the gRPC API; it is not encrypted, so it must be on loopback")
	flags.StringVar(&o.httpAddress, "http-bind-address", "", "address of /livez, /readyz and /metrics (default 127.0.0.1:8080, in a cluster :8080)")
	flags.IntVar(&o.workers, "workers", 16, "how many pods are worked on at once")
	flags.Float32Var(&o.qps, "kube-api-qps", 100, "requests per second to the API server, on average")
	flags.IntVar(&o.burst, "kube-api-burst", 200, "requests to the API server in one go")
	flags.BoolVar(&o.dryRun, "dry-run", false, "plan and log, and write nothing to the cluster")
	flags.StringVar(&o.logFormat, "log-format", "text", "format of the log: text or json")
	flags.IntVarP(&o.verbosity, "verbosity", "v", 0, "how much is logged: 0, 1 (each call, each conflict) or 2 (each pod left alone)")
}

// complete fills in the defaults that depend on other flags.
func (o *options) complete() {
	if o.httpAddress != "" {
		return
	}
	// In a cluster, the kubelet's probes come from outside of the pod.
	o.httpAddress = ":8080"
	if o.kubeconfig != "" {
		o.httpAddress = "127.0.0.1:8080"
	}
}

// validate returns everything that is wrong with the flags.
func (o *options) validate() error {
	var errs []error
	reject := func(flag, format string, args ...any) {
		errs = append(errs, fmt.Errorf("--%s: %s", flag, fmt.Sprintf(format, args...)))
	}
	if problems := validation.IsDNS1123Label(o.configNamespace); len(problems) > 0 {
		reject("config-namespace", "%q is no namespace: %s", o.configNamespace, problems[0])
	}
	if problems := validation.IsDNS1123Subdomain(o.configName); len(problems) > 0 {
		reject("config-name", "%q is no name of a ConfigMap: %s", o.configName, problems[0])
	}
	if problems := validation.IsDNS1123Subdomain(o.holdsName); len(problems) > 0 {
		reject("holds-name", "%q is no name of a ConfigMap: %s", o.holdsName, problems[0])
	} else if o.holdsName == o.configName {
		reject("holds-name", "must be another ConfigMap than --config-name")
	}
	if o.nodeTypeLabel != "" {
		if problems := validation.IsQualifiedName(o.nodeTypeLabel); len(problems) > 0 {
			reject("node-type-label", "%q is no label: %s", o.nodeTypeLabel, problems[0])
		}
	}
	if len(o.ownerKinds) == 0 || slices.Contains(o.ownerKinds, "") {
		reject("owner-kinds", "must name at least one kind, and no empty one")
	}
	if !slices.Contains(reconciler.Externals, reconciler.External(o.externallyResized)) {
		reject("externally-resized", "must be leave, adopt or override, not %q", o.externallyResized)
	}
	if !(o.realignRate >= 0) || math.IsInf(o.realignRate, 0) {
		reject("realign-rate", "must be a number of pods per second, or 0 for no limit, not %v", o.realignRate)
	}
	if err := loopback(o.grpcAddress); err != nil {
		reject("grpc-bind-address", "%v", err)
	}
	if _, _, err := net.SplitHostPort(o.httpAddress); err != nil {
		reject("http-bind-address", "%q is not host:port", o.httpAddress)
	}
	if o.workers < 1 {
		reject("workers", "must be at least 1, not %d", o.workers)
	}
	if !(o.qps > 0) {
		reject("kube-api-qps", "must be above 0, not %v", o.qps)
	}
	if o.burst < 1 {
		reject("kube-api-burst", "must be at least 1, not %d", o.burst)
	}
	if o.logFormat != "text" && o.logFormat != "json" {
		reject("log-format", "must be text or json, not %q", o.logFormat)
	}
	if o.verbosity < 0 {
		reject("verbosity", "must not be negative")
	}
	return errors.Join(errs...)
}

// loopback returns an error unless only this machine can reach the address.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not host:port", address)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%q can be reached from other machines, and the API is not encrypted; use 127.0.0.1 and reach it by kubectl port-forward", address)
}
