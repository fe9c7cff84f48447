package reconciler

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/loop"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

func TestPacerLoop(t *testing.T) {
	t.Parallel()
	t.Run("pods whose resize a policy forbids do not delay other pods", forbiddenPodsDoNotDelayOthers)
	t.Run("old pods wait for their first sizes, new pods do not, and a different pace counts immediately", oldPodsWaitForTheirFirstSizes)
}

// Half of the pods are on the node whose ratio changes most, and a policy of the cluster
// forbids to resize them.
func forbiddenPodsDoNotDelayOthers(t *testing.T) {
	t.Parallel()
	const each, rate = 20, 2
	config := localcluster.ForTest(t, "").Config()
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	s := &apiServer{client: client, dynamic: dynamic.NewForConfigOrDie(config)}
	perf := func(good, frozen float64) ratios.Update {
		return ratios.Update{Layer: &ratios.Layer{Settings: keys.Some(policy.Settings{Guard: everyPod}), Baseline: "n2d", Ratios: map[string]ratios.Ratio{
			"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: good, MemoryPerf: 1}, "c3": {CPUPerf: frozen, MemoryPerf: 1},
		}}}
	}
	namespaces := map[string]string{}
	for name, nodeType := range map[string]string{"good": "n4", "frozen": "c3"} {
		n := s.node(t, name)
		if _, err := client.CoreV1().Nodes().Patch(t.Context(), n.Name, types.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, nodetype.LabelGCPMachineFamily, nodeType), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		namespaces[name] = s.namespace(t)
		for i := range each {
			s.podIn(t, namespaces[name], podtest.Amounts{"100m", "", "64Mi", ""}, func(p *corev1.Pod) {
				controller := true
				p.Name, p.Spec.NodeName = fmt.Sprintf("pod-%d", i), n.Name
				p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID, Controller: &controller}}
			})
		}
	}
	sized := func(name, cpu string) error {
		pods, err := client.CoreV1().Pods(namespaces[name]).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		left := 0
		for _, p := range pods.Items {
			if p.Spec.Containers[0].Resources.Requests.Cpu().String() != cpu || p.Annotations[contract.AppliedInstanceType] == "" {
				left++
			}
		}
		if left > 0 {
			return fmt.Errorf("%d %s pods are not", left, name)
		}
		return nil
	}

	source := ratiotest.NewMemory("memory", perf(1.25, 1.25))
	store := ratios.NewStore(source)
	r, err := New(Config{
		Client: client, Dynamic: s.dynamic, Writer: client, Asker: client, Ratios: store, Holds: clustertest.NoHolds{},
		Planner: plan.Planner{OwnerKinds: []string{"Node"}, External: plan.OverrideExternal},
		Events:  loop.NoEvents(), Metrics: prometheus.NewRegistry(), Workers: 4, ResizesPerSecond: rate,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- store.Run(ctx) }()
	go func() { done <- r.Run(ctx) }()
	for name := range namespaces {
		localcluster.Eventually(t, "pods to be sized", func() error { return sized(name, "80m") })
	}

	s.freeze(t, namespaces["frozen"])
	began := time.Now()
	source.Set(perf(2, 4))
	localcluster.Eventually(t, "the good pods to be sized", func() error { return sized("good", "50m") })
	// Alone, the good pods take 10 s. They would take minutes if the frozen pods always
	// came first and their turns were lost.
	took, alone := time.Since(began), time.Second*each/rate
	t.Logf("the good pods took %v, alone they take %v", took, alone)
	if took < alone-time.Second/rate || took > 2*alone {
		t.Errorf("the good pods took %v, alone they take %v", took, alone)
	}
	if err := sized("frozen", "80m"); err != nil {
		t.Error(err)
	}
	cancel()
	for range 2 {
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	}
}

// movedClock is a clock that is ahead: the API server decides when pods were created.
type movedClock struct {
	clock.RealClock
	ahead time.Duration
}

func (c movedClock) Now() time.Time { return c.RealClock.Now().Add(c.ahead) }

// The server begins when the pods are ten minutes old.
func oldPodsWaitForTheirFirstSizes(t *testing.T) {
	t.Parallel()
	const old, rate = 20, 10
	config := localcluster.ForTest(t, "").Config()
	config.QPS = -1
	client := kubernetes.NewForConfigOrDie(config)
	s := &apiServer{client: client, dynamic: dynamic.NewForConfigOrDie(config)}
	n, namespace := s.node(t, "paced"), s.namespace(t)
	create := func(name string, started *metav1.Time) {
		s.podIn(t, namespace, podtest.Amounts{"100m", "", "64Mi", ""}, func(p *corev1.Pod) {
			p.Name, p.Spec.NodeName, p.Status.StartTime = name, n.Name, started
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID, Controller: new(true)}}
		})
	}
	for i := range old {
		create(fmt.Sprintf("old-%d", i), nil)
	}
	sized := func() (names []string) {
		pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pods.Items {
			if p.Spec.Containers[0].Resources.Requests.Cpu().String() == "80m" {
				names = append(names, p.Name)
			}
		}
		return names
	}
	paced := func(perSecond, freedPerHour float64) ratios.Update {
		return ratios.Update{Layer: &ratios.Layer{
			Settings: keys.Some(policy.Settings{Guard: everyPod}), Cluster: keys.Some(policy.Cluster{Pace: policy.Pace{ResizesPerSecond: perSecond, FreedPerHour: freedPerHour}}, "pace"), Baseline: "n2d",
			Ratios: map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1}, "n4": {CPUPerf: 1.25, MemoryPerf: 1}},
		}}
	}

	source := ratiotest.NewMemory("memory", paced(0.001, 0))
	store := ratios.NewStore(source)
	r, err := New(Config{
		Client: client, Dynamic: s.dynamic, Writer: client, Asker: client, Ratios: store, Holds: clustertest.NoHolds{},
		Planner: plan.Planner{OwnerKinds: []string{"Node"}, External: plan.OverrideExternal},
		Events:  loop.NoEvents(), Metrics: prometheus.NewRegistry(), Workers: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	now := movedClock{ahead: 10 * time.Minute}
	r.Loop.Cluster.Clock = now
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	go func() { done <- store.Run(ctx) }()
	go func() { done <- r.Run(ctx) }()
	waiting := func(want int) {
		t.Helper()
		localcluster.Eventually(t, fmt.Sprintf("%d pods to wait", want), func() error {
			if got := r.Status().Backlog; got != want {
				return fmt.Errorf("%d pods wait", got)
			}
			return nil
		})
	}
	waiting(old)
	saysWhatItWaitsFor := func(pod, want string) {
		t.Helper()
		p, err := r.Preview(t.Context(), types.NamespacedName{Namespace: namespace, Name: pod}, query.PreviewOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if last := p.Reasons[len(p.Reasons)-1]; last.Code != contract.WaitingForTurn || !strings.Contains(last.Message, want) {
			t.Errorf("%s waits: %+v, want %s", pod, p.Reasons, want)
		}
	}
	saysWhatItWaitsFor("old-0", "0.001 per second (pace.resizesPerSecond)")
	create("new", new(metav1.NewTime(now.Now())))
	localcluster.Eventually(t, "the new pod to be sized", func() error {
		if names := sized(); !slices.Contains(names, "new") {
			return fmt.Errorf("sized: %q", names)
		}
		return nil
	})
	if names := sized(); len(names) != 1 {
		t.Fatalf("old pods did not wait: %q are sized", names)
	}

	// Each pod frees 20 of the 8,000 millicores that the node has.
	source.Set(paced(0, 5*20/8000.0))
	some := func(want int) {
		t.Helper()
		localcluster.Eventually(t, fmt.Sprintf("%d pods to be sized", want), func() error {
			if names := sized(); len(names) != want {
				return fmt.Errorf("%q are sized", names)
			}
			return nil
		})
	}
	some(1 + 5)
	waiting(old - 5)
	already := sized()
	for i := range old {
		if name := fmt.Sprintf("old-%d", i); !slices.Contains(already, name) {
			saysWhatItWaitsFor(name, "too little of pace.freedPerHour (1.25% of all nodes): the pod is resized at ")
			break
		}
	}
	began := time.Now()
	source.Set(paced(rate, 0))
	some(1 + old)
	if took, least := time.Since(began), time.Second*(old-5)/rate; took < least-time.Second/rate || took > 10*least {
		t.Errorf("the other pods took %v, want about %v", took, least)
	}
	cancel()
	for range 2 {
		if err := <-done; err != nil {
			t.Errorf("ended with %v", err)
		}
	}
}

// freeze creates a policy that forbids every resize in a namespace, and waits until it is
// in effect.
func (s *apiServer) freeze(t *testing.T, namespace string) {
	t.Helper()
	admission := s.client.AdmissionregistrationV1()
	deny := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "freeze"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/resize"}},
			}}}},
			Validations: []admissionv1.Validation{{Expression: "false", Message: "nothing is resized here"}},
		},
	}
	bind := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "freeze"},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: deny.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}},
		},
	}
	if _, err := admission.ValidatingAdmissionPolicies().Create(t.Context(), deny, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admission.ValidatingAdmissionPolicyBindings().Create(t.Context(), bind, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the policy to be in effect", func() error {
		_, err := s.client.CoreV1().Pods(namespace).Patch(t.Context(), "pod-0", types.StrategicMergePatchType,
			[]byte(`{"spec":{"containers":[{"name":"app","resources":{"requests":{"cpu":"79m"}}}]}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, contract.ResizeSubresource)
		if err == nil {
			return fmt.Errorf("it is not in effect")
		}
		return nil
	})
}
