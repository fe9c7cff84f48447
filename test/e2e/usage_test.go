package e2e

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// usageWorkloads are a Deployment that runs on n2d only, and the ratios of three node types.
const usageWorkloads = planeConfig + `
    prices: {currency: USD, cpuCoreHour: 0.03, memoryGiBHour: 0.004}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {work.testcluster.local/app: '{cpu: 400m, memory: 64Mi}'}
    spec:
      nodeSelector: {cloud.google.com/machine-family: n2d}
      containers: [{name: app, image: none, resources: {requests: {cpu: "1", memory: 256Mi}}}]
`

func TestUsage(t *testing.T) {
	t.Parallel()
	t.Run("usage is collected, kept and shown", usageIsCollectedKeptAndShown)
}

// usedCluster is a cluster whose containers work, and the replicas of a server that collects their usage.
type usedCluster struct {
	*cluster
	replicas []*server
}

func usageIsCollectedKeptAndShown(t *testing.T) {
	t.Parallel()
	u := &usedCluster{cluster: newCluster(localcluster.ForTestWith(t, localcluster.Options{Nodes: "n2d=1,n4=1:speed=1.25", NodeCPU: 4, MetricsServer: true}))}
	u.apply(t, append(deploy.Base(), []byte(usageWorkloads))...)
	serve := func() *server {
		return u.serve(t, u.serviceAccount(t), append([]string{"--usage-interval=10s"}, asDeployed...)...).ready(t)
	}
	u.replicas = []*server{serve()}
	first := u.await(t, "n2d")

	t.Run("the recommendation follows what was declared", func(t *testing.T) { u.follows(t, first) })
	t.Run("sums add up", func(t *testing.T) { u.addsUp(t, first) })
	t.Run("savings are counted", u.counts)
	t.Run("a leader that is killed loses nothing that was stored", func(t *testing.T) {
		u.stored(t)
		u.replicas = append(u.replicas, serve())
		if err := u.replicas[0].Kill(); err != nil {
			t.Fatal(err)
		}
		u.replicas = u.replicas[1:]
		u.counts(t)
		near(t, first, u.await(t, "n2d"))
	})
	t.Run("a node type where the workload never ran has a recommendation", func(t *testing.T) {
		u.move(t, "n4")
		moved := u.await(t, "n4")
		near(t, first, moved)
		size, on := cpuOf(t, moved.GetNodeTypes()[0].GetSize()), cpuOf(t, first.GetNodeTypes()[0].GetSize())
		if math.Abs(size*1.25-on) > 0.01*on {
			t.Errorf("%v cores on a n4, and %v on a n2d", size, on)
		}
	})
	t.Run("a changed ratio changes recommendations and no history", u.changedRatio)
	t.Run("Git gets the size, and nothing jumps", u.exports)
	t.Run("new pods start with what usage shows, and keep it", u.startsNewPods)
}

// recommendation returns that of the Deployment.
func (u *usedCluster) recommendation(t *testing.T) (*workloadresizerv1.Recommendation, error) {
	list, err := u.usage().ListRecommendations(t.Context(), &workloadresizerv1.ListRecommendationsRequest{Namespace: "shop"})
	if err != nil {
		return nil, err
	}
	if len(list.GetRecommendations()) != 1 {
		return nil, fmt.Errorf("%d recommendations", len(list.GetRecommendations()))
	}
	return list.GetRecommendations()[0], nil
}

func (u *usedCluster) usage() *client.Client { return u.replicas[0].api }

// await waits for the recommendation while both pods run on nodes of a type.
func (u *usedCluster) await(t *testing.T, nodeType string) (r *workloadresizerv1.Recommendation) {
	t.Helper()
	localcluster.Eventually(t, "a recommendation on "+nodeType, func() (err error) {
		if r, err = u.recommendation(t); err != nil {
			return err
		}
		if on := r.GetNodeTypes(); r.GetBaseline() == nil || len(on) != 1 || on[0].GetNodeType() != nodeType || on[0].GetPods() != 2 {
			return fmt.Errorf("%v", r)
		}
		return nil
	})
	return r
}

// follows checks that a container of 400m and 64Mi gets that, with the margin and at most a bucket more.
func (u *usedCluster) follows(t *testing.T, r *workloadresizerv1.Recommendation) {
	target := r.GetBaseline().GetTarget()
	if cpu := cpuOf(t, target); cpu < 0.4*1.15*0.98 || cpu > 0.4*1.15*1.05*1.02 {
		t.Errorf("%v cores", cpu)
	}
	if memory := resource.MustParse(target.GetMemory()); memory.AsApproximateFloat64() < 64<<20*1.15*0.98 || memory.AsApproximateFloat64() > 64<<20*1.15*1.1 {
		t.Errorf("%v of memory", target.GetMemory())
	}
	if why := r.GetBaseline().GetCpuDecreaseMessage(); why == "" || r.GetBaseline().GetCpuMayDecrease() {
		t.Errorf("a decrease is allowed after a minute: %q", why)
	}
}

// addsUp checks the sums over two pods.
func (u *usedCluster) addsUp(t *testing.T, r *workloadresizerv1.Recommendation) {
	sums := r.GetSums()
	if sums.GetPods() != 2 || sums.GetUnknownPods() != 0 || sums.GetAuthored().GetCpu() != "2" || sums.GetAuthored().GetMemory() != "512Mi" || cmp.Diff(sums.GetAuthored(), sums.GetCompared(), protocmp.Transform()) != "" {
		t.Errorf("%v", sums)
	}
	if all, one := cpuOf(t, sums.GetRecommended()), cpuOf(t, r.GetNodeTypes()[0].GetSize()); all != 2*one {
		t.Errorf("two pods need %v cores, and one needs %v", all, one)
	}
	if want := 2*0.03 + 0.5*0.004; math.Abs(sums.GetAuthoredCost()-want) > 1e-9 || sums.GetRecommendedCost() <= 0 || sums.GetRecommendedCost() >= want {
		t.Errorf("costs %v and %v, want %v and less", sums.GetAuthoredCost(), sums.GetRecommendedCost(), want)
	}
}

// counts waits until savings over time are known, and checks them.
func (u *usedCluster) counts(t *testing.T) {
	t.Helper()
	request := &workloadresizerv1.ListSavingsRequest{
		Namespace: "shop", SinceTime: timestamppb.New(time.Now().Add(-time.Hour)), Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"},
	}
	localcluster.Eventually(t, "savings over time", func() error {
		list, err := u.usage().ListSavings(t.Context(), request)
		if err != nil {
			return err
		}
		if all := list.GetSavings(); len(all) != 1 || all[0].GetKnownDuration().AsDuration() == 0 || all[0].GetPods() != 2 {
			return fmt.Errorf("%v", all)
		}
		return nil
	})
	list, err := u.usage().ListSavings(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if cpu := cpuOf(t, list.GetSavings()[0].GetAuthored()); math.Abs(cpu-2) > 0.2 {
		t.Errorf("%v", list)
	}
}

// stored waits until the history is stored.
func (u *usedCluster) stored(t *testing.T) {
	t.Helper()
	localcluster.Eventually(t, "stored history", func() error {
		status, err := u.usage().GetUsageStatus(t.Context())
		if err != nil {
			return err
		}
		for _, shard := range status.GetStorage().GetShards() {
			if shard.GetContainers() > 0 {
				return nil
			}
		}
		return fmt.Errorf("%v", status.GetStorage())
	})
}

// near checks that a recommendation has moved by at most one percent.
func near(t *testing.T, before, after *workloadresizerv1.Recommendation) {
	t.Helper()
	was, is := cpuOf(t, before.GetBaseline().GetTarget()), cpuOf(t, after.GetBaseline().GetTarget())
	if math.Abs(was-is) > 0.01*was {
		t.Errorf("%v cores, before %v", is, was)
	}
}

func cpuOf(t *testing.T, a *workloadresizerv1.ResourceAmounts) float64 {
	t.Helper()
	q, err := resource.ParseQuantity(a.GetCpu())
	if err != nil {
		t.Fatalf("%v in %v", err, a)
	}
	return q.AsApproximateFloat64()
}

// move rolls the Deployment out on nodes of another type.
func (u *usedCluster) move(t *testing.T, nodeType string) {
	t.Helper()
	patch := fmt.Sprintf(`{"spec": {"template": {"spec": {"nodeSelector": {"cloud.google.com/machine-family": %q}}}}}`, nodeType)
	if _, err := u.client.AppsV1().Deployments("shop").Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// changedRatio checks that a ratio that is twice as high doubles what is needed of the baseline where the
// usage was measured, and leaves the history of the other node type alone.
func (u *usedCluster) changedRatio(t *testing.T) {
	web := &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}
	before, err := u.usage().GetUsageHistory(t.Context(), "shop", web, "app")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(before.GetNodeTypes()); n == 0 || before.GetNodeTypes()[n-1].GetNodeType() == "" {
		t.Fatalf("history of %d node types", n)
	}
	u.change(t, "n4", 2.5)
	defer u.change(t, "n4", 1.25)
	localcluster.Eventually(t, "the size on the faster node", func() error {
		r, err := u.recommendation(t)
		if err != nil {
			return err
		}
		if size, target := cpuOf(t, r.GetNodeTypes()[0].GetSize()), cpuOf(t, r.GetBaseline().GetTarget()); math.Abs(size*2.5-target) > 0.01*target {
			return fmt.Errorf("%v cores of a n4 for %v of a n2d", size, target)
		}
		return nil
	})
	after, err := u.usage().GetUsageHistory(t.Context(), "shop", web, "app")
	if err != nil {
		t.Fatal(err)
	}
	on := func(h *workloadresizerv1.GetUsageHistoryResponse) *workloadresizerv1.NodeTypeHistory {
		for _, of := range h.GetNodeTypes() {
			if of.GetNodeType() == "n2d" {
				return of
			}
		}
		return nil
	}
	// Nothing runs there since.
	if diff := cmp.Diff(on(before).GetCpu(), on(after).GetCpu(), protocmp.Transform()); diff != "" || on(before) == nil {
		t.Errorf("the history of n2d has changed: %s", diff)
	}
}

// change overrides the ratio of a node type.
func (u *usedCluster) change(t *testing.T, nodeType string, cpu float64) {
	t.Helper()
	if _, err := u.replicas[0].api.Overrides().UpdateOverride(t.Context(), &workloadresizerv1.UpdateOverrideRequest{Override: override(nodeType, cpu, 1), AllowMissing: true}); err != nil {
		t.Error(err)
	}
}

// exports writes what is recommended into the author's file, and deploys that.
func (u *usedCluster) exports(t *testing.T) {
	documents := strings.Split(usageWorkloads, "---\n")
	authored := strings.NewReplacer(`cpu: "1", memory: 256Mi`, `cpu: "0.1", memory: 32Mi`, "machine-family: n2d", "machine-family: n4").
		Replace("# Reviewed by the shop's team.\n" + documents[len(documents)-1])
	file := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(file, []byte(authored), 0o600); err != nil {
		t.Fatal(err)
	}
	s := u.replicas[0]
	before := u.await(t, "n4")
	const theirs = `      containers: [{name: app, image: none, resources: {requests: {cpu: "0.1", memory: 32Mi}}}]`
	wants(t, s.resizectl(t, 1, "export", "-f", filepath.Dir(file)), "-"+theirs)
	wants(t, s.resizectl(t, 0, "export", "-f", filepath.Dir(file), "--write"), "shop/deployment/web")
	exported, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	start, _, _ := strings.Cut(authored, theirs)
	if !strings.HasPrefix(string(exported), start) || strings.Count(string(exported), "\n") != strings.Count(authored, "\n") {
		t.Fatalf("more than the amounts has changed:\n%s", exported)
	}
	if again := s.resizectl(t, 0, "export", "-f", filepath.Dir(file)); strings.Contains(again, "+++") {
		t.Errorf("the second export changes something:\n%s", again)
	}

	u.apply(t, exported)
	target := cpuOf(t, before.GetBaseline().GetTarget())
	localcluster.Eventually(t, "both pods to have what was exported", func() error {
		r, err := u.recommendation(t)
		if err != nil {
			return err
		}
		if sums := r.GetSums(); sums.GetPods() != 2 || math.Abs(cpuOf(t, sums.GetAuthored())-2*target) > 0.01*target {
			return fmt.Errorf("%v, want twice %v cores", sums, target)
		}
		return nil
	})
	near(t, before, u.await(t, "n4"))
}

// startsNewPods rolls out a Deployment whose pods may run on both node types. They start with what they need on the slower
// one, and nothing resizes them afterward.
func (u *usedCluster) startsNewPods(t *testing.T) {
	u.install(t)
	address := u.webhook(t)
	if err := u.replicas[0].Kill(); err != nil {
		t.Fatal(err)
	}
	demand := "    demand: {from: usage, mode: initial, minHistory: 0s, minCoverage: 0}\n"
	u.apply(t, []byte(createdNamespace), []byte(planeConfig+demand))
	u.replicas[0] = u.serveCreating(t, address, "--usage-interval=10s")
	s := u.replicas[0]
	before := u.await(t, "n4")
	documents := strings.Split(usageWorkloads, "---\n")
	// Another manager has set the node selector of the Deployment, so applying one without it does not remove it.
	if err := u.client.AppsV1().Deployments("shop").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	u.apply(t, []byte(strings.Replace(documents[len(documents)-1], "      nodeSelector: {cloud.google.com/machine-family: n2d}\n", "", 1)))
	target := cpuOf(t, before.GetBaseline().GetTarget())
	var pods []corev1.Pod
	localcluster.Eventually(t, "two pods that start with what usage shows", func() error {
		pods = u.of(t, "shop", "web")
		for _, p := range pods {
			cpu := p.Spec.Containers[0].Resources.Requests.Cpu().AsApproximateFloat64()
			if p.Spec.NodeSelector != nil || p.Status.Phase != corev1.PodRunning || math.Abs(cpu-target) > 0.02*target {
				return fmt.Errorf("pod %s requests %v cores, want %v", p.Name, cpu, target)
			}
		}
		if len(pods) != 2 {
			return fmt.Errorf("%d pods", len(pods))
		}
		return nil
	})
	u.awaitSettled(t, s, "shop")
	for _, p := range u.of(t, "shop", "web") {
		if p.Generation != 1 {
			t.Errorf("pod %s was resized after its creation", p.Name)
		}
		wants(t, s.resizectl(t, 0, "explain", "-n", "shop", p.Name), "by usage", "from usage when the pod was sized", "a pod keeps it while it runs (demand.mode: initial)")
	}
}
