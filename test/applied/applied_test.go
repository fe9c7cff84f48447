package applied

import (
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/steppedworld"
)

var (
	workloadsFlag = flag.Int("workloads", len(shapes), "number of workloads")
	replicasFlag  = flag.Int("replicas", 2, "number of pods of each workload")
	nodesFlag     = flag.Int("nodes", 1, "number of nodes of each of the two types")
	holdFlag      = flag.Duration("hold", 0, "time for which sizes follow usage after that")
)

// suite is a cluster with a server that sizes pods by their usage.
type suite struct {
	*localcluster.Cluster
	client    kubernetes.Interface
	server    *localcluster.Server
	api       *client.Client
	workloads []workload
	seen      *steppedworld.Observer
}

func TestApplied(t *testing.T) {
	t.Parallel()
	s := &suite{workloads: workloadsOf(*workloadsFlag)}
	s.Cluster = localcluster.ForTestWith(t, localcluster.Options{
		Nodes: fmt.Sprintf("n2d=%d,n4=%d:speed=1.25", *nodesFlag, *nodesFlag), NodeCPU: 512, NodeMemory: "1Ti", MetricsServer: true,
	})
	s.client = kubernetes.NewForConfigOrDie(s.Config())
	if err := localcluster.Apply(t.Context(), s.Config(), deploy.Base()...); err != nil {
		t.Fatal(err)
	}
	s.apply(t, config("observe"))
	s.seen = steppedworld.Observe(t, s.client, "app")
	for i := range s.workloads {
		s.apply(t, s.workloads[i].manifest(*replicasFlag, "n2d"))
	}
	s.seen.Await(t, "all pods to run", func(c *steppedworld.Course) error { return c.Runs() }, len(s.workloads)**replicasFlag)
	s.serve(t)
	s.measured(t)
	before := s.seen.All()
	for _, c := range before {
		if c.Sized() {
			t.Errorf("pod %s was resized while usage was only observed: %s", c.Pod.Name, steppedworld.ResourcesOf(&c.Pod.Spec.Containers[0]))
		}
	}

	began := time.Now()
	s.apply(t, config("apply"))
	s.settled(t)
	t.Logf("%d pods settled %v after the mode changed: %s", len(before), time.Since(began).Round(time.Second), s.seen.Tally())

	began = time.Now()
	for i := range s.workloads {
		if w := &s.workloads[i]; !w.job {
			s.apply(t, w.manifest(*replicasFlag, map[bool]string{true: "n4", false: "n2d"}[w.moves]))
		}
	}
	s.seen.Await(t, "the new pods to run", func(c *steppedworld.Course) error {
		if want := s.of(c.Pod).nodeType(); c.Pod.Annotations["node-type"] != want {
			return fmt.Errorf("it must run on %s", want)
		}
		return c.Runs()
	}, len(s.workloads)**replicasFlag)
	s.settled(t)
	t.Logf("%d pods settled %v after a rollout of all workloads: %s", len(s.seen.All()), time.Since(began).Round(time.Second), s.seen.Tally())
	s.first(t)
	if *holdFlag > 0 {
		select { // The observer sees what happens meanwhile.
		case <-t.Context().Done():
		case <-time.After(*holdFlag):
		}
		s.settled(t)
		t.Logf("%d pods had what they need after %v more: %s", len(s.seen.All()), *holdFlag, s.seen.Tally())
	}

	began = time.Now()
	s.apply(t, config("observe"))
	s.seen.Await(t, "the originals", func(c *steppedworld.Course) error { return s.of(c.Pod).original(c.Pod) }, len(s.workloads)**replicasFlag)
	t.Logf("all pods had their originals, scaled for their nodes, %v after the mode was observe again", time.Since(began).Round(time.Second))
	for _, c := range s.seen.All() {
		for _, status := range slices.Concat(c.Pod.Status.ContainerStatuses, c.Pod.Status.InitContainerStatuses) {
			if status.RestartCount != 0 {
				t.Errorf("container %s of pod %s has restarted: %+v", status.Name, c.Pod.Name, status.LastTerminationState)
			}
		}
		if c.Class != c.Pod.Status.QOSClass {
			t.Errorf("pod %s was %s, and is %s", c.Pod.Name, c.Class, c.Pod.Status.QOSClass)
		}
	}
}

func (s *suite) apply(t *testing.T, manifest string) {
	t.Helper()
	localcluster.Eventually(t, "the manifest to be applied", func() error {
		return localcluster.Apply(t.Context(), s.Config(), []byte(manifest))
	})
}

// serve starts the server.
func (s *suite) serve(t *testing.T) {
	t.Helper()
	kubeconfig, err := localcluster.ServiceAccountKubeconfig(t.Context(), s.Config(), deploy.Namespace, deploy.ServiceAccount, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.server = localcluster.ServerForTest(t, localcluster.ServerOptions{Kubeconfig: kubeconfig, Args: []string{"--usage-interval=10s"}})
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	defer cancel()
	if err := s.server.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	if s.api, err = client.Dial(s.server.GRPCAddress); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.api.Close() })
}

// recommendations returns what the container app of each workload needs on the baseline.
func (s *suite) recommendations(ctx context.Context) (map[string]*workloadresizerv1.Recommendation, error) {
	list, err := s.api.ListRecommendations(ctx, &workloadresizerv1.ListRecommendationsRequest{Namespace: namespace})
	if err != nil {
		return nil, err
	}
	found := map[string]*workloadresizerv1.Recommendation{}
	for _, r := range list.GetRecommendations() {
		if r.GetContainer() == "app" {
			found[r.GetWorkload().GetName()] = r
		}
	}
	return found, nil
}

// measured waits until usage shows what the steady workloads need: what they use, and the margin.
func (s *suite) measured(t *testing.T) {
	t.Helper()
	localcluster.Eventually(t, "recommendations for all workloads", func() error {
		found, err := s.recommendations(t.Context())
		if err != nil {
			return err
		}
		for i := range s.workloads {
			w := &s.workloads[i]
			target := found[w.name].GetBaseline().GetTarget()
			if target == nil {
				return fmt.Errorf("there is none for %s", w.name)
			}
			if w.cpu > 0 && !follows(amount(target.GetCpu()), w.cpu, 0.01) || w.memory > 0 && !follows(amount(target.GetMemory()), w.memory*(1<<20), 1e7) {
				return fmt.Errorf("%s needs %v", w.name, target)
			}
		}
		return nil
	})
}

// settled waits until all pods have what usage shows, or keep their size for a reason, and none waits for others.
func (s *suite) settled(t *testing.T) {
	t.Helper()
	localcluster.Eventually(t, "all pods to have what they need", func() error {
		found, err := s.recommendations(t.Context())
		if err != nil {
			return err
		}
		n := 0
		for plan, err := range s.api.PreviewPlans(t.Context(), namespace).All() {
			if err != nil {
				return err
			}
			if err := s.judge(plan, found); err != nil {
				return fmt.Errorf("pod %s: %w", plan.GetPod(), err)
			}
			n++
		}
		if n != len(s.workloads)**replicasFlag {
			return fmt.Errorf("%d pods", n)
		}
		return nil
	})
}

// judge returns an error unless a pod has what its workload was seen to need, or more for a reason.
func (s *suite) judge(plan *workloadresizerv1.Plan, found map[string]*workloadresizerv1.Recommendation) error {
	if plan.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE {
		return fmt.Errorf("it will be resized: %v", plan.GetReasons())
	}
	for _, r := range plan.GetReasons() {
		if slices.Contains([]string{"WaitingForProof", "WaitingForTurn", "ResizeInProgress", "AwaitingReadiness"}, r.GetCode()) {
			return fmt.Errorf("it waits: %v", r)
		}
	}
	w, app := s.named(plan.GetPod()), plan.GetContainers()[0]
	if w.unsized {
		if len(app.GetCurrent().GetRequests()) != 0 {
			return fmt.Errorf("it has requests: %v", app)
		}
		return nil
	}
	target := found[w.name].GetBaseline().GetTarget()
	for _, r := range []struct {
		name string
		want float64
	}{{"cpu", amount(target.GetCpu()) * plan.GetCpuFactor()}, {"memory", amount(target.GetMemory()) * plan.GetMemoryFactor()}} {
		// A size within a tenth of what is needed stays, and usage lowers nothing while its effect is unknown.
		has, most := amount(app.GetCurrent().GetRequests()[r.name]), 4*amount(app.GetOriginal().GetRequests()[r.name])
		if want := min(r.want, most); has < 0.88*want {
			return fmt.Errorf("it has %v of %s, and needs %v: %v", has, r.name, want, plan)
		}
		if has > 1.12*r.want && !explained(plan, r.name) {
			return fmt.Errorf("it has %v of %s, and needs %v, without a reason: %v", has, r.name, r.want, plan)
		}
	}
	return nil
}

// explained reports whether a plan says why a resource of the container app has more than usage shows.
func explained(plan *workloadresizerv1.Plan, resource string) bool {
	demands := plan.GetContainers()[0].GetDemands()
	return demands[resource].GetSource() == workloadresizerv1.DemandSource_DEMAND_SOURCE_USAGE && demands[resource].GetMessage() != ""
}

// first logs how soon the first pods of the workloads that moved had what they need.
func (s *suite) first(t *testing.T) {
	t.Helper()
	found, err := s.recommendations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for i := range s.workloads {
		w := &s.workloads[i]
		if !w.moves || w.unsized {
			continue
		}
		want := amount(found[w.name].GetBaseline().GetTarget().GetCpu()) / 1.25
		soonest := time.Duration(math.MaxInt64)
		for _, c := range s.seen.All() {
			if s.of(c.Pod) == w {
				soonest = min(soonest, c.RightAfter(want))
			}
		}
		if soonest == math.MaxInt64 {
			t.Errorf("no pod of %s got the size that it needs on a n4", w.name)
			continue
		}
		took = append(took, soonest)
	}
	slices.Sort(took)
	t.Logf("the first pods of %d workloads on nodes of a type where they never ran had their size after %v to %v of running", len(took), took[0], took[len(took)-1])
}

// of returns the workload of a pod.
func (s *suite) of(p *corev1.Pod) *workload {
	return s.named(p.Name)
}

// named returns the workload of a pod with a name.
func (s *suite) named(pod string) *workload {
	i := slices.IndexFunc(s.workloads, func(w workload) bool { return strings.HasPrefix(pod, w.name+"-") })
	return &s.workloads[i]
}

// nodeType is the type of the nodes on which the workload runs after the rollout.
func (w *workload) nodeType() string {
	if w.moves {
		return "n4"
	}
	return "n2d"
}

// original returns an error unless a pod has what its author wrote, scaled for its node.
func (w *workload) original(p *corev1.Pod) error {
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		wrote, err := w.authored(c.Name)
		if err != nil {
			return err
		}
		if p.Annotations["node-type"] == "n4" {
			scale(wrote.Requests)
			scale(wrote.Limits)
		}
		if got, want := steppedworld.ResourcesOf(c), steppedworld.ResourcesOf(&corev1.Container{Resources: wrote}); got != want {
			return fmt.Errorf("container %s has %s, not %s", c.Name, got, want)
		}
	}
	return nil
}

// scale scales CPU for a node that is a quarter faster.
func scale(list corev1.ResourceList) {
	if cpu, ok := list[corev1.ResourceCPU]; ok {
		list[corev1.ResourceCPU] = *resource.NewMilliQuantity(int64(math.Round(float64(cpu.MilliValue())/1.25)), resource.DecimalSI)
	}
}

func amount(text string) float64 {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return math.NaN()
	}
	return q.AsApproximateFloat64()
}

// follows reports whether a target is the usage and the margin. Histograms know usage up to a bucket, which is 5% wide, and
// wider by the width of the first one.
func follows(target, usage, first float64) bool {
	return 1.15*usage*0.98 < target && target < 1.15*(usage*1.05+first)*1.02
}
