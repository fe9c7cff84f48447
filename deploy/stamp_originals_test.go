package deploy

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// limitedNamespace has a LimitRange with default requests and limits.
const limitedNamespace = `
apiVersion: v1
kind: Namespace
metadata: { name: limited }
---
apiVersion: v1
kind: LimitRange
metadata: { name: defaults, namespace: limited }
spec:
  limits:
    - { type: Container, defaultRequest: { cpu: 300m, memory: 64Mi }, default: { memory: 128Mi } }
`

// otherPolicy changes the requests of pods that have its name as a label, as webhooks do. In
// any order of the API server, either "a" or "z" runs after our policy.
const otherPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: { name: NAME }
spec:
  matchConstraints:
    resourceRules: [{ apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods] }]
  matchConditions:
    - { name: labelled, expression: 'has(object.metadata.labels) && "NAME" in object.metadata.labels' }
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
    - patchType: JSONPatch
      jsonPatch:
        expression: '[JSONPatch{op: "replace", path: "/spec/containers/0/resources/requests/cpu", value: "2"}]'
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: { name: NAME }
spec: { policyName: NAME }
`

func other(name string) []byte { return []byte(strings.ReplaceAll(otherPolicy, "NAME", name)) }

// stamped describes a pod to create, and its annotations afterward.
type stamped struct {
	name string
	// namespace defaults to "default". kind is the kind of the controller and defaults to
	// "ReplicaSet". apiVersion defaults to the one of Kubernetes.
	namespace, kind, apiVersion string
	labels                      map[string]string
	// annotations and want omit the prefix of the contract.
	annotations      map[string]string
	init, containers []corev1.Container
	want             map[string]string
}

func container(name, cpu, cpuLimit, memory, memoryLimit string) corev1.Container {
	c := corev1.Container{Name: name, Image: "none", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}}
	for _, amount := range []struct {
		list corev1.ResourceList
		of   corev1.ResourceName
		text string
	}{{c.Resources.Requests, "cpu", cpu}, {c.Resources.Limits, "cpu", cpuLimit}, {c.Resources.Requests, "memory", memory}, {c.Resources.Limits, "memory", memoryLimit}} {
		if amount.text != "" {
			amount.list[amount.of] = resource.MustParse(amount.text)
		}
	}
	return c
}

func sidecar(c corev1.Container) corev1.Container {
	always := corev1.ContainerRestartPolicyAlways
	c.RestartPolicy = &always
	return c
}

var one = map[string]string{"original-cpu.app": "1"}

// longest is the longest name whose keys need no hash: 41 characters.
var longest = strings.Repeat("n", 41)

var stampedPods = []stamped{
	{name: "stamps requests and limits",
		containers: []corev1.Container{container("app", "1", "2", "1Gi", "2Gi")},
		want:       map[string]string{"original-cpu.app": "1", "original-cpu-limit.app": "2", "original-memory.app": "1Gi", "original-memory-limit.app": "2Gi"}},
	{name: "stamps the canonical form",
		containers: []corev1.Container{container("app", "0.5", "1000m", "1.5Gi", "2048Mi")},
		want:       map[string]string{"original-cpu.app": "500m", "original-cpu-limit.app": "1", "original-memory.app": "1536Mi", "original-memory-limit.app": "2Gi"}},
	{name: "stamps a request that defaults to its limit",
		containers: []corev1.Container{container("app", "", "1", "", "1Gi")},
		want:       map[string]string{"original-cpu.app": "1", "original-cpu-limit.app": "1", "original-memory.app": "1Gi", "original-memory-limit.app": "1Gi"}},
	{name: "stamps several containers, one without requests",
		containers: []corev1.Container{container("app", "1", "", "", ""), container("none", "", "", "", ""), container("log", "", "", "300M", "")},
		want:       map[string]string{"original-cpu.app": "1", "original-memory.log": "300M"}},
	{name: "does not stamp 0, or a limit without its request",
		containers: []corev1.Container{container("app", "1", "", "", ""), container("zero", "0", "1", "0", "1Gi")},
		want:       one},
	{name: "does not stamp a pod without requests",
		containers: []corev1.Container{container("app", "", "", "", "")}},
	{name: "stamps sidecars, but not other init containers",
		init:       []corev1.Container{container("init", "2", "", "", ""), sidecar(container("proxy", "100m", "200m", "", ""))},
		containers: []corev1.Container{container("app", "1", "", "", "")},
		want:       map[string]string{"original-cpu.app": "1", "original-cpu.proxy": "100m", "original-cpu-limit.proxy": "200m"}},
	{name: "does not stamp names whose keys need a hash",
		containers: []corev1.Container{container(longest, "1", "1", "1Gi", "1Gi"), container(longest+"n", "1", "", "", "")},
		want: map[string]string{"original-cpu." + longest: "1", "original-cpu-limit." + longest: "1",
			"original-memory." + longest: "1Gi", "original-memory-limit." + longest: "1Gi"}},
	{name: "stamps defaults of a LimitRange", namespace: "limited",
		containers: []corev1.Container{container("app", "1", "", "", "")},
		want:       map[string]string{"original-cpu.app": "1", "original-memory.app": "64Mi", "original-memory-limit.app": "128Mi"}},
	{name: "stamps changes by a policy that is first in the alphabet", labels: map[string]string{"a": "yes"},
		containers: []corev1.Container{container("app", "1", "", "", "")},
		want:       map[string]string{"original-cpu.app": "2"}},
	{name: "stamps changes by a policy that is last in the alphabet", labels: map[string]string{"z": "yes"},
		containers: []corev1.Container{container("app", "1", "", "", "")},
		want:       map[string]string{"original-cpu.app": "2"}},
	{name: "replaces annotations copied from a running pod",
		annotations: map[string]string{"original-cpu.app": "7", "original-memory.gone": "1Gi", "applied-instance-type": "n4", "applied-at": "2026-11-21T01:02:03Z", "adopted-at": "2026-11-21T01:02:03Z", "skip": "false"},
		containers:  []corev1.Container{container("app", "1", "", "", "")},
		want:        map[string]string{"original-cpu.app": "1", "skip": "false"}},
	{name: "does not stamp a pod that opts out", annotations: map[string]string{"skip": "true"},
		containers: []corev1.Container{container("app", "1", "", "", "")}, want: map[string]string{"skip": "true"}},
	{name: "stamps pods of a StatefulSet", kind: "StatefulSet", containers: []corev1.Container{container("app", "1", "", "", "")}, want: one},
	{name: "stamps pods of a DaemonSet", kind: "DaemonSet", containers: []corev1.Container{container("app", "1", "", "", "")}, want: one},
	{name: "stamps pods of a Job", kind: "Job", containers: []corev1.Container{container("app", "1", "", "", "")}, want: one},
	{name: "does not stamp pods of another controller", kind: "Rollout", containers: []corev1.Container{container("app", "1", "", "", "")}},
	{name: "does not stamp pods of the same kind in another group", kind: "StatefulSet", apiVersion: "apps.kruise.io/v1beta1", containers: []corev1.Container{container("app", "1", "", "", "")}},
	{name: "does not stamp pods without a controller", kind: "-", containers: []corev1.Container{container("app", "1", "", "", "")}},
}

func (s *stamped) pod() *corev1.Pod {
	no, yes := false, true
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod", Labels: s.labels, Annotations: map[string]string{}},
		Spec:       corev1.PodSpec{AutomountServiceAccountToken: &no, InitContainers: s.init, Containers: s.containers},
	}
	if s.namespace != "" {
		pod.Namespace = s.namespace
	}
	for key, value := range s.annotations {
		pod.Annotations[contract.Prefix+key] = value
	}
	kind := "ReplicaSet"
	if s.kind != "" {
		kind = s.kind
	}
	apiVersion := cmp.Or(s.apiVersion, map[string]string{"Job": "batch/v1"}[kind], "apps/v1")
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "beside", UID: "2"}}
	if kind != "-" {
		pod.OwnerReferences = append(pod.OwnerReferences, metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: "owner", UID: "1", Controller: &yes})
	}
	return pod
}

// TestStampOriginals creates pods on an API server with the policy. It uses dry runs, so the
// pods' owners do not need to exist.
func TestStampOriginals(t *testing.T) {
	t.Parallel()
	config := localcluster.ForTest(t, "").Config()
	if err := localcluster.Apply(t.Context(), config, []byte(limitedNamespace), StampOriginals(), other("a"), other("z")); err != nil {
		t.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(config)
	create := func(s *stamped) (*corev1.Pod, error) {
		pod := s.pod()
		return client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	}
	// A policy takes effect a moment after its creation.
	app := []corev1.Container{container("app", "1", "", "", "")}
	for _, s := range []*stamped{
		{labels: map[string]string{"a": "yes"}, containers: app},
		{labels: map[string]string{"z": "yes"}, containers: app},
		{namespace: "limited", containers: []corev1.Container{container("app", "", "", "", "")}},
	} {
		localcluster.Eventually(t, "policies, defaults and ServiceAccounts to be in effect", func() error {
			pod, err := create(s)
			if err != nil {
				return err
			}
			_, stamped := contract.CPURequest.In(pod.Annotations, "app")
			if changed := pod.Spec.Containers[0].Resources.Requests.Cpu().String(); !stamped || s.labels != nil && changed != "2" {
				return fmt.Errorf("stamped: %v, cpu %s", stamped, changed)
			}
			return nil
		})
	}
	for i := range stampedPods {
		s := &stampedPods[i]
		t.Run(s.name, func(t *testing.T) {
			pod, err := create(s)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for key, value := range s.want {
				want[contract.Prefix+key] = value
			}
			maps.DeleteFunc(pod.Annotations, func(key, _ string) bool { return !strings.HasPrefix(key, contract.Prefix) })
			if diff := gocmp.Diff(want, pod.Annotations, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("annotations: %s", diff)
			}
		})
	}
}

func TestStampOriginalsRules(t *testing.T) {
	t.Run("the policy stamps pods of the default owner kinds", thePolicyStampsPodsOfTheDefaultOwnerKinds)
}

// The policy repeats the default of --owner-kinds.
func thePolicyStampsPodsOfTheDefaultOwnerKinds(t *testing.T) {
	var kinds []string
	for _, condition := range regexp.MustCompile(`o\.kind (?:== "|in \[)[^&|)]*`).FindAllString(stampOriginals, -1) {
		kinds = append(kinds, regexp.MustCompile(`[A-Z]\w+`).FindAllString(condition, -1)...)
	}
	if !slices.Equal(kinds, plan.DefaultOwnerKinds) {
		t.Errorf("the policy selects the kinds %v, want %v", kinds, plan.DefaultOwnerKinds)
	}
}
