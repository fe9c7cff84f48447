package deploy

import _ "embed"

var (
	//go:embed base/namespace.yaml
	namespace string
	//go:embed base/serviceaccount.yaml
	serviceAccount string
	//go:embed base/rbac.yaml
	rbac string
	//go:embed base/users.yaml
	users string
	//go:embed base/connect.yaml
	connect string
	//go:embed base/holds.yaml
	holds string
	//go:embed base/overrides.yaml
	overrides string
	//go:embed base/benchmarks.yaml
	benchmarks string
	//go:embed base/samples.yaml
	samples string
	//go:embed base/tls.yaml
	tls string
	//go:embed base/annotation-guard.yaml
	annotationGuard string
	//go:embed components/stamp-originals/policy.yaml
	stampOriginals string
	//go:embed samples/config.yaml
	sampleConfig string
	//go:embed samples/workloads.yaml
	sampleWorkloads string
)

// Names in the manifests that their users need.
const (
	// Namespace is where the server and its ConfigMap are.
	Namespace = "workload-resizer-system"
	// ServiceAccount is the account that the server runs under.
	ServiceAccount = "workload-resizer"
	// ConfigMap holds the ratios.
	ConfigMap = "workload-resizer-config"
	// Holds is the ConfigMap that keeps which pods are restored or paused.
	Holds = "workload-resizer-holds"
	// Overrides is the ConfigMap that keeps the ratios set through the API.
	Overrides = "workload-resizer-overrides"
	// Benchmarks is the ConfigMap with the settings of benchmarks, which people make.
	Benchmarks = "workload-resizer-benchmarks"
	// BenchmarkRatios is the ConfigMap that keeps the ratios that follow benchmarks.
	BenchmarkRatios = "workload-resizer-benchmark-ratios"
	// SamplesPrefix begins the names of the ConfigMaps that keep measurements of
	// node types; a number from 0 on follows.
	SamplesPrefix = "workload-resizer-samples-"
	// SampleNamespace is where the sample workloads are.
	SampleNamespace = "samples"
)

// Base is what the server needs in every cluster, wherever it runs, in the order to
// apply it in: its namespace, its ServiceAccount, what that may do, what users may be
// allowed to do, how they get there, and the ConfigMaps and the Secret that it writes.
func Base() [][]byte {
	return [][]byte{[]byte(namespace), []byte(serviceAccount), []byte(rbac), []byte(users), []byte(connect), []byte(holds), []byte(overrides), []byte(benchmarks), []byte(samples), []byte(tls)}
}

// AnnotationGuard is the policy that lets only the server change its annotations of
// existing pods. It names the server's ServiceAccount, so that a server that runs
// as somebody else is refused as well.
func AnnotationGuard() []byte { return []byte(annotationGuard) }

// StampOriginals is the policy that writes the originals of pods when they are
// created. Kubernetes before 1.36 does not know its kind.
func StampOriginals() []byte { return []byte(stampOriginals) }

// SampleConfig is a ConfigMap with ratios of three node types.
func SampleConfig() []byte { return []byte(sampleConfig) }

// SampleWorkloads are workloads of every kind in a namespace of their own.
func SampleWorkloads() []byte { return []byte(sampleWorkloads) }
