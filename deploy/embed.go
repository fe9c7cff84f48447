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
	//go:embed base/journal.yaml
	journal string
	//go:embed base/tls.yaml
	tls string
	//go:embed base/annotation-guard.yaml
	annotationGuard string
	//go:embed base/account-guard.yaml
	accountGuard string
	//go:embed components/stamp-originals/policy.yaml
	stampOriginals string
	//go:embed components/vpa-objects/rbac.yaml
	vpaObjectsRights string
	//go:embed components/evict-pods/evictions.yaml
	evictions string
	//go:embed components/evict-pods/rbac.yaml
	evictionRights string
	//go:embed components/size-at-creation/keys.yaml
	creationKeys string
	//go:embed components/size-at-creation/rbac.yaml
	creationRights string
	//go:embed components/size-at-creation/webhook.yaml
	creationWebhook string
	//go:embed components/startup-taint/rbac.yaml
	startupTaintRights string
	//go:embed components/startup-taint/policy.yaml
	startupTaintPolicy string
	//go:embed components/overloaded-taint/rbac.yaml
	overloadedTaintRights string
	//go:embed components/overloaded-taint/policy.yaml
	overloadedTaintPolicy string
	//go:embed samples/config.yaml
	sampleConfig string
	//go:embed samples/workloads.yaml
	sampleWorkloads string
)

// Names in the manifests. Those of the ConfigMaps, the Secret and the Lease in which the server
// stores its state are contract.DefaultNames.
const (
	// Namespace is the namespace of the server and its ConfigMaps.
	Namespace = "workload-resizer-system"
	// ServiceAccount is the server's ServiceAccount.
	ServiceAccount = "workload-resizer"
	// ConfigMap is the ConfigMap with the ratios.
	ConfigMap = "workload-resizer-config"
	// SampleNamespace is the namespace of the sample workloads.
	SampleNamespace = "samples"
)

// Base returns the manifests that the server needs in every cluster, whether it runs inside or
// outside of it. They are in the order in which to apply them: the namespace, the server's
// ServiceAccount and permissions, the roles for users, their access to the server, and the
// ConfigMaps and the Secret that the server writes.
func Base() [][]byte {
	return [][]byte{[]byte(namespace), []byte(serviceAccount), []byte(rbac), []byte(users), []byte(connect), []byte(holds), []byte(overrides), []byte(benchmarks), []byte(samples), []byte(journal), []byte(tls)}
}

// AnnotationGuard returns the policy that allows only the server to change its annotations on
// existing pods. It names the server's ServiceAccount, so it also refuses a server that runs
// as another user.
func AnnotationGuard() []byte { return []byte(annotationGuard) }

// AccountGuard returns the policy that allows the server's ServiceAccount to change
// only the sizes of a pod, the server's annotations, and the record of who set what
// (managedFields).
func AccountGuard() []byte { return []byte(accountGuard) }

// StartupTaint returns the right to remove startup taints from nodes, and the policy that limits
// it to that.
func StartupTaint() [][]byte { return [][]byte{[]byte(startupTaintRights), []byte(startupTaintPolicy)} }

// OverloadedTaint returns the right to set and remove taints of overloaded nodes, and the policy that limits
// it to that.
func OverloadedTaint() [][]byte {
	return [][]byte{[]byte(overloadedTaintRights), []byte(overloadedTaintPolicy)}
}

// VPAObjects returns the right to write the status of VerticalPodAutoscalers.
func VPAObjects() []byte { return []byte(vpaObjectsRights) }

// EvictPods returns what evictions need: the ConfigMap that stores them, and the rights of the server.
func EvictPods() [][]byte { return [][]byte{[]byte(evictions), []byte(evictionRights)} }

// SizeAtCreation returns what sizes at creation need: the Secret for keys, the rights of the server, and the configuration
// that lets the API server ask.
func SizeAtCreation() [][]byte {
	return [][]byte{[]byte(creationKeys), []byte(creationRights), []byte(creationWebhook)}
}

// StampOriginals returns the policy that writes the originals of pods when they are created.
// It requires Kubernetes 1.36 or later.
func StampOriginals() []byte { return []byte(stampOriginals) }

// SampleConfig returns a ConfigMap with ratios of three node types.
func SampleConfig() []byte { return []byte(sampleConfig) }

// SampleWorkloads returns workloads of every kind in their own namespace.
func SampleWorkloads() []byte { return []byte(sampleWorkloads) }
