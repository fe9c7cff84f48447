package resizes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"google.golang.org/grpc"
	"k8s.io/apimachinery/pkg/types"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/server/streams"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/test/statuswriter"
)

// startReplica starts a replica that resizes pods owned by nodes, unless it is a dry run.
func startReplica(t *testing.T, cluster *rest.Config, dry bool, viewer access.Viewer) (*servertest.Parts, workloadresizerv1.ResizeServiceClient) {
	t.Helper()
	p := servertest.New(t, servertest.Setup{Cluster: cluster, Loop: func(c *reconciler.Config) {
		c.Planner.OwnerKinds, c.Workers, c.DryRun = []string{"Node"}, 4, dry
	}})
	return p, serve(t, p, viewer)
}

// serve starts a ResizeService on parts that do not run yet, and runs them.
func serve(t *testing.T, p *servertest.Parts, viewer access.Viewer) workloadresizerv1.ResizeServiceClient {
	t.Helper()
	s := New(Config{Reconciler: p.Loop, Viewer: viewer, Watches: streams.NewWatches()})
	p.Run(t, func(ctx context.Context) error { s.Run(ctx); return nil })
	return workloadresizerv1.NewResizeServiceClient(servertest.Connect(t, s))
}

// resizeSuite has a control plane with three replicas: one that resizes, and two that only
// read.
type resizeSuite struct {
	config *rest.Config
	client kubernetes.Interface
	source *ratiotest.Memory
	node   *corev1.Node
	// leader and other can see everything; limited cannot see the namespace bank.
	leader, other, limited workloadresizerv1.ResizeServiceClient
}

func TestResizes(t *testing.T) {
	config := localcluster.ForTest(t, "").Config()
	config.QPS = -1
	s := &resizeSuite{config: config, client: kubernetes.NewForConfigOrDie(config)}
	statuswriter.Start(t, config, statuswriter.Options{Outcome: func(pod *corev1.Pod) statuswriter.Outcome {
		if pod.Name == "waits" {
			return statuswriter.Outcome{Result: statuswriter.Deferred, Message: "no room"}
		}
		return statuswriter.Outcome{}
	}})
	s.prepare(t)
	var leader *servertest.Parts
	leader, s.leader = startReplica(t, config, false, servertest.All)
	s.source = leader.Source
	_, s.other = startReplica(t, config, true, servertest.All)
	_, s.limited = startReplica(t, config, true, servertest.AllBut("bank"))

	t.Run("all replicas return the same for each pod", s.same)
	t.Run("pages continue on another replica", s.pages)
	t.Run("returns the selected pods", s.selects)
	t.Run("omits namespaces that the caller cannot see", s.hides)
	t.Run("names the problem of an invalid request", s.refuses)
	t.Run("a watch sees what another replica does", s.watch)
	t.Run("a watch of labels and states sees what enters and leaves them", s.watchSelected)
	t.Run("a watch continues on another replica", s.watchElsewhere)
}

func (s *resizeSuite) prepare(t *testing.T) {
	for _, namespace := range []string{"bank", "shop"} {
		if _, err := s.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	servertest.ConfigMap(t, s.client, servertest.HoldsName)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{nodetype.LabelGCPMachineFamily: "n4"}}}
	node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("32"), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("100")}
	node.Status.Capacity = node.Status.Allocatable
	var err error
	if s.node, err = s.client.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bank/ledger", "shop/web", "shop/waits", "shop/bare"} {
		s.create(t, name)
	}
}

// create creates a pod whose controller is its node, unless the pod is named bare.
func (s *resizeSuite) create(t *testing.T, name string) {
	t.Helper()
	namespace, name, _ := strings.Cut(name, "/")
	no, yes := false, true
	sizes := corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("1Gi")}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeName: "node", AutomountServiceAccountToken: &no,
			Containers: []corev1.Container{{Name: "app", Image: "none", Resources: corev1.ResourceRequirements{Requests: sizes}}},
		},
	}
	if name != "bare" {
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "node", UID: s.node.UID, Controller: &yes}}
	}
	localcluster.Eventually(t, "the namespace's ServiceAccount", func() error {
		_, err := s.client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
		return err
	})
}

// tell returns one line per resize.
func tell(resizes ...*workloadresizerv1.Resize) []string {
	var lines []string
	for _, r := range resizes {
		c := r.GetContainers()[0]
		lines = append(lines, fmt.Sprintf("%s/%s %s %s from %s to %s, has %s", r.GetNamespace(), r.GetPod(), r.GetNodeType(), r.GetState().String()[len("RESIZE_STATE_"):],
			c.GetOriginal().GetRequests()["cpu"], c.GetSpec().GetRequests()["cpu"], c.GetActual().GetRequests()["cpu"]))
	}
	return lines
}

const (
	ledger = "bank/ledger n4 ACTUATED from 1 to 800m, has 800m"
	waits  = "shop/waits n4 DEFERRED from 1 to 800m, has 1"
	webNow = "shop/web n4 ACTUATED from 1 to 800m, has 800m"
)

func (s *resizeSuite) same(t *testing.T) {
	var all [2][]*workloadresizerv1.Resize
	localcluster.Eventually(t, "every replica to return all resizes", func() error {
		for i, replica := range []struct {
			workloadresizerv1.ResizeServiceClient
			want []string
		}{{s.leader, []string{ledger, waits, webNow}}, {s.other, []string{ledger, waits, webNow}}, {s.limited, []string{waits, webNow}}} {
			response, err := replica.ListResizes(t.Context(), &workloadresizerv1.ListResizesRequest{})
			if err != nil {
				return err
			}
			if diff := cmp.Diff(replica.want, tell(response.GetResizes()...)); diff != "" {
				return fmt.Errorf("replica %d: %s", i, diff)
			}
			if i < len(all) {
				all[i] = response.GetResizes()
			}
		}
		// Other fields than the sizes arrive with other events of the pods.
		if diff := cmp.Diff(all[0], all[1], protocmp.Transform()); diff != "" {
			return fmt.Errorf("replicas differ: %s", diff)
		}
		return nil
	})
	waiting := all[0][1]
	if w := waiting.GetWorkload(); w.GetKind() != "Node" || w.GetName() != "node" || waiting.GetNode() != "node" || waiting.GetUid() == "" || waiting.GetApplyTime() == nil || waiting.GetMessage() != "no room" {
		t.Errorf("got %v", waiting)
	}
	one, err := s.other.GetResize(t.Context(), &workloadresizerv1.GetResizeRequest{Namespace: "shop", Pod: "waits"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(waiting, one.GetResize(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func (s *resizeSuite) pages(t *testing.T) {
	var got []string
	request := &workloadresizerv1.ListResizesRequest{PageSize: 1}
	for i := 0; i == 0 || request.GetPageToken() != ""; i++ {
		response, err := [...]workloadresizerv1.ResizeServiceClient{s.leader, s.other}[i%2].ListResizes(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(response.GetResizes()); n != 1 {
			t.Errorf("a page has %d resizes", n)
		}
		got = append(got, tell(response.GetResizes()...)...)
		request.PageToken = response.GetNextPageToken()
	}
	if diff := cmp.Diff([]string{ledger, waits, webNow}, got); diff != "" {
		t.Error(diff)
	}
}

func (s *resizeSuite) selects(t *testing.T) {
	deferred := []workloadresizerv1.ResizeState{workloadresizerv1.ResizeState_RESIZE_STATE_DEFERRED, workloadresizerv1.ResizeState_RESIZE_STATE_FAILED}
	for _, tc := range []struct {
		name    string
		request *workloadresizerv1.ListResizesRequest
		want    []string
	}{
		{"a namespace", &workloadresizerv1.ListResizesRequest{Namespace: "shop"}, []string{waits, webNow}},
		{"labels", &workloadresizerv1.ListResizesRequest{LabelSelector: "app in (web, ledger)"}, []string{ledger, webNow}},
		{"states", &workloadresizerv1.ListResizesRequest{States: deferred}, []string{waits}},
		{"more than a page can have", &workloadresizerv1.ListResizesRequest{PageSize: 1 << 30}, []string{ledger, waits, webNow}},
		{"all of them", &workloadresizerv1.ListResizesRequest{Namespace: "bank", LabelSelector: "app", States: deferred}, nil},
	} {
		response, err := s.other.ListResizes(t.Context(), tc.request)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, tell(response.GetResizes()...)); diff != "" || response.GetNextPageToken() != "" {
			t.Errorf("%s: %s, next page %q", tc.name, diff, response.GetNextPageToken())
		}
	}
}

func (s *resizeSuite) hides(t *testing.T) {
	response, err := s.limited.ListResizes(t.Context(), &workloadresizerv1.ListResizesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{waits, webNow}, tell(response.GetResizes()...)); diff != "" {
		t.Error(diff)
	}
	_, listed := s.limited.ListResizes(t.Context(), &workloadresizerv1.ListResizesRequest{Namespace: "bank"})
	_, got := s.limited.GetResize(t.Context(), &workloadresizerv1.GetResizeRequest{Namespace: "bank", Pod: "ledger"})
	stream, err := s.limited.WatchResizes(t.Context(), &workloadresizerv1.WatchResizesRequest{Namespace: "bank"})
	if err != nil {
		t.Fatal(err)
	}
	_, watched := stream.Recv()
	for _, err := range []error{listed, got, watched} {
		servertest.CheckError(t, err, codes.PermissionDenied, "NAMESPACE_NOT_VISIBLE", `namespace "bank"`)
	}
}

func (s *resizeSuite) refuses(t *testing.T) {
	get := func(namespace, pod string) error {
		_, err := s.other.GetResize(t.Context(), &workloadresizerv1.GetResizeRequest{Namespace: namespace, Pod: pod})
		return err
	}
	servertest.CheckError(t, get("shop", "bare"), codes.NotFound, "NOT_RESIZED", `pod "bare" in namespace "shop" was never resized`)
	servertest.CheckError(t, get("shop", "none"), codes.NotFound, "POD_NOT_FOUND", "none")
	servertest.CheckError(t, get("", "bare"), codes.InvalidArgument, "INVALID_ARGUMENT", "namespace must be set")
	servertest.CheckError(t, get("shop", ""), codes.InvalidArgument, "INVALID_ARGUMENT", "pod must be set")
	for field, request := range map[string]*workloadresizerv1.ListResizesRequest{
		"label_selector": {LabelSelector: "app in"},
		"page_token":     {PageToken: "bank/ledger"},
	} {
		_, err := s.other.ListResizes(t.Context(), request)
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", field)
	}
}

// resizeWatch reads a watch, one line per event.
type resizeWatch struct {
	grpc.ServerStreamingClient[workloadresizerv1.WatchResizesResponse]
	got []string
	// token is the newest one.
	token string
}

func watchOn(t *testing.T, replica workloadresizerv1.ResizeServiceClient, request *workloadresizerv1.WatchResizesRequest) *resizeWatch {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), localcluster.Patience)
	t.Cleanup(cancel)
	stream, err := replica.WatchResizes(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	return &resizeWatch{ServerStreamingClient: stream}
}

// until reads up to an event with this prefix.
func (w *resizeWatch) until(t *testing.T, what string) {
	t.Helper()
	for len(w.got) == 0 || !strings.Contains(w.got[len(w.got)-1], what) {
		m, err := w.Recv()
		if err != nil {
			t.Fatalf("waiting for %s: %v; so far %q", what, err, w.got)
		}
		line := m.GetType().String()[len("WATCH_EVENT_TYPE_"):]
		if m.GetResize() != nil {
			line += " " + tell(m.GetResize())[0]
		}
		w.got, w.token = append(w.got, line), m.GetResumeToken()
	}
}

// setFactor sets the factor for cpu on the node.
func (s *resizeSuite) setFactor(factor float64) {
	l := servertest.Layer()
	l.Ratios["n4"] = ratios.Ratio{CPUPerf: 1 / factor, MemoryPerf: 1}
	s.source.Set(ratios.Update{Layer: l})
}

func (s *resizeSuite) watch(t *testing.T) {
	w := watchOn(t, s.limited, &workloadresizerv1.WatchResizesRequest{})
	until := func(what string) { t.Helper(); w.until(t, what) }
	until("BOOKMARK")
	if diff := cmp.Diff([]string{"ADDED " + waits, "ADDED " + webNow, "BOOKMARK"}, w.got); diff != "" {
		t.Error(diff)
	}
	begin := time.Now()
	s.setFactor(0.5)
	until("MODIFIED shop/web n4 PENDING from 1 to 500m, has 800m")
	t.Logf("latency from a ratio change to the resize event on another replica: %v", time.Since(begin))
	until("MODIFIED shop/web n4 ACTUATED from 1 to 500m, has 500m")

	if err := s.client.CoreV1().Pods("shop").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until("DELETED shop/web n4")
	s.create(t, "shop/web")
	until("ADDED shop/web ") // Its node type follows when the resize is applied.
	until("MODIFIED shop/web n4")
	for _, line := range w.got {
		if strings.Contains(line, "bank") {
			t.Errorf("the watch reveals what the caller cannot see: %s", line)
		}
	}
}

// watchSelected starts with the sizes for a factor of 0.5.
func (s *resizeSuite) watchSelected(t *testing.T) {
	done := []workloadresizerv1.ResizeState{workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED}
	w := watchOn(t, s.other, &workloadresizerv1.WatchResizesRequest{LabelSelector: "app in (web, waits)", States: done})
	// Added, or modified if the watch began before the node type was written.
	w.until(t, "shop/web n4 ACTUATED from 1 to 500m, has 500m")
	s.setFactor(0.8)
	// While the kubelet has not processed it, the resize is not in the state.
	w.until(t, "DELETED shop/web n4 PENDING from 1 to 800m, has 500m")
	w.until(t, "ADDED shop/web n4 ACTUATED from 1 to 800m, has 800m")

	relabel := func(app string) {
		t.Helper()
		patch := []byte(`{"metadata": {"labels": {"app": "` + app + `"}}}`)
		if _, err := s.client.CoreV1().Pods("shop").Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	relabel("other")
	w.until(t, "DELETED shop/web n4 ACTUATED")
	relabel("web")
	w.until(t, "ADDED shop/web n4 ACTUATED")
	for _, line := range w.got {
		if strings.Contains(line, "bank") || strings.Contains(line, "waits") {
			t.Errorf("an event of a resize that is not selected: %s", line)
		}
	}
}

func (s *resizeSuite) watchElsewhere(t *testing.T) {
	request := &workloadresizerv1.WatchResizesRequest{Namespace: "bank"}
	first := watchOn(t, s.other, request)
	first.until(t, "BOOKMARK")
	old := first.token
	// The token of a replica that has just read the pods names what they are now.
	_, late := startReplica(t, s.config, true, servertest.All)
	var fresh *resizeWatch
	localcluster.Eventually(t, "the late replica", func() error {
		fresh = watchOn(t, late, request)
		m, err := fresh.Recv()
		if err == nil && m.GetResize() == nil {
			err = fmt.Errorf("%v", m)
		}
		return err
	})
	fresh.until(t, "BOOKMARK")

	s.setFactor(0.5)
	first.until(t, "MODIFIED bank/ledger n4 ACTUATED from 1 to 500m, has 500m")
	continued := &workloadresizerv1.WatchResizesRequest{Namespace: "bank", ResumeToken: fresh.token}
	for name, replica := range map[string]workloadresizerv1.ResizeServiceClient{"the leader": s.leader, "another replica": s.other, "the same replica": late} {
		w := watchOn(t, replica, continued)
		w.until(t, "MODIFIED bank/ledger n4 ACTUATED from 1 to 500m, has 500m")
		w.until(t, "BOOKMARK")
		if slices.ContainsFunc(w.got, func(line string) bool { return strings.HasPrefix(line, "ADDED") }) {
			t.Errorf("%s begins again: %q", name, w.got)
		}
	}

	// Before the late replica had read the pods, it could have missed deletions.
	_, err := watchOn(t, late, &workloadresizerv1.WatchResizesRequest{Namespace: "bank", ResumeToken: old}).Recv()
	servertest.CheckError(t, err, codes.OutOfRange, "RESUME_TOKEN_EXPIRED", "watch again without a token")
	_, err = watchOn(t, s.other, &workloadresizerv1.WatchResizesRequest{Namespace: "shop", ResumeToken: fresh.token}).Recv()
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "resume_token")
}

func TestResizesRules(t *testing.T) {
	t.Run("fails until pods have been read", failsUntilPodsHaveBeenRead)
}

func failsUntilPodsHaveBeenRead(t *testing.T) {
	client := serve(t, servertest.New(t, servertest.Setup{}), servertest.All)
	stream, err := client.WatchResizes(t.Context(), &workloadresizerv1.WatchResizesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	_, watched := stream.Recv()
	_, listed := client.ListResizes(t.Context(), &workloadresizerv1.ListResizesRequest{})
	_, got := client.GetResize(t.Context(), &workloadresizerv1.GetResizeRequest{Namespace: "a", Pod: "b"})
	for _, err := range []error{watched, listed, got} {
		servertest.CheckError(t, err, codes.Unavailable, "CACHE_NOT_READY", "pods and nodes are not read yet")
	}
}
