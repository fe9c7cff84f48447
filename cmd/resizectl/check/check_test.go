package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var program = cmdtest.ProgramWith(NewCommand)

// The checks are seen failing and passing on a real cluster in test/e2e. Here are the faults that
// neither a real API server nor a real server can be made to have.

// on returns an API server of a version with these resources.
func on(serverVersion string, resources ...*metav1.APIResourceList) *subject {
	client := fake.NewClientset()
	discovery := client.Discovery().(*fakediscovery.FakeDiscovery)
	discovery.FakedServerVersion = &version.Info{GitVersion: serverVersion}
	discovery.Resources = resources
	return &subject{kube: client, now: cmdtest.Since}
}

func resourceList(groupVersion string, names ...string) *metav1.APIResourceList {
	list := &metav1.APIResourceList{GroupVersion: groupVersion}
	for _, name := range names {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
	}
	return list
}

// has checks that one of the results has this level and text.
func has(t *testing.T, results []Result, check string, level Level, text string) {
	t.Helper()
	is := func(r Result) bool { return r.Check == check && r.Level == level && strings.Contains(r.Message, text) }
	if !slices.ContainsFunc(results, is) {
		t.Errorf("no %s of %s with %q among %v", level, check, text, results)
	}
	for _, r := range results {
		if (r.Level == OK) != (r.Remedy == "") {
			t.Errorf("a remedy is for what is wrong: %+v", r)
		}
	}
}

func TestKubernetes(t *testing.T) {
	core := resourceList("v1", "pods", "pods/resize")
	policies := resourceList("admissionregistration.k8s.io/v1", "validatingadmissionpolicies")
	for _, tc := range []struct {
		name, version string
		resources     []*metav1.APIResourceList
		check         string
		level         Level
		text          string
	}{
		{"a version that can do everything", "v1.34.0", []*metav1.APIResourceList{core, policies}, "api-server-version", OK, "1.34.0"},
		{"a version that keeps memory limits", "v1.33.5-gke.100", []*metav1.APIResourceList{core, policies}, "api-server-version", Warning, "MemoryLimitKept"},
		{"a version that cannot resize", "v1.32.9", nil, "api-server-version", Failure, "1.32.9"},
		{"a version that is none", "unknown", nil, "api-server-version", Warning, "not checked"},
		{"the subresource", "v1.34.0", []*metav1.APIResourceList{core}, "pods-resize", OK, ""},
		{"no subresource", "v1.34.0", []*metav1.APIResourceList{resourceList("v1", "pods")}, "pods-resize", Failure, "pods/resize"},
		{"policies", "v1.34.0", []*metav1.APIResourceList{core, policies}, "admission-policies-kind", OK, ""},
		{"no policies", "v1.34.0", []*metav1.APIResourceList{core}, "admission-policies-kind", Failure, "does not support"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			has(t, on(tc.version, tc.resources...).kubernetes(t.Context()), tc.check, tc.level, tc.text)
		})
	}
}

func TestKubelets(t *testing.T) {
	node := func(name, kubelet string) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KubeletVersion: kubelet}}}
	}
	for _, tc := range []struct {
		name  string
		nodes []corev1.Node
		err   error
		check string
		level Level
		text  string
	}{
		{"one version", []corev1.Node{node("a", "v1.35.1"), node("b", "v1.35.1")}, nil, "kubelet-versions", OK, "2 nodes are version 1.35.1"},
		{"several versions", []corev1.Node{node("a", "v1.36.0"), node("b", "v1.34.1")}, nil, "kubelet-versions", OK, "1.34.1 to 1.36.0"},
		{"an old one", []corev1.Node{node("a", "v1.36.0"), node("b", "v1.32.1")}, nil, "kubelet-versions", Warning, "pods on 1 node cannot be resized"},
		{"one that keeps memory limits", []corev1.Node{node("a", "v1.33.1")}, nil, "kubelet-versions", Warning, "MemoryLimitKept"},
		{"one that is newer than the API server", []corev1.Node{node("a", "v1.37.0")}, nil, "kubelet-skew", Warning, "newer than the API server"},
		{"no version", []corev1.Node{node("a", "")}, nil, "kubelet-versions", Warning, "is not a version"},
		{"no nodes", nil, nil, "kubelet-versions", Warning, "no nodes"},
		{"nodes that the caller may not see", nil, errors.New("forbidden"), "kubelet-versions", Warning, "not checked: forbidden"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := on("v1.36.3")
			s.nodes, s.nodesErr = tc.nodes, tc.err
			has(t, s.kubelets(t.Context()), tc.check, tc.level, tc.text)
		})
	}
}

func TestServer(t *testing.T) {
	healthy := func() *workloadresizerv1.GetStatusResponse {
		return &workloadresizerv1.GetStatusResponse{
			Replica: "a", Version: "v1", StartTime: timestamppb.New(cmdtest.Since), Leader: &workloadresizerv1.Leader{Identity: "a", RenewTime: timestamppb.New(cmdtest.Since.Add(-5 * time.Second))},
		}
	}
	for _, tc := range []struct {
		name   string
		change func(*workloadresizerv1.GetStatusResponse)
		check  string
		level  Level
		text   string
	}{
		{"a fresh Lease", func(*workloadresizerv1.GetStatusResponse) {}, "leader", OK, "a leads"},
		{"a renewal by a clock that is late", func(s *workloadresizerv1.GetStatusResponse) {
			s.Leader.RenewTime = timestamppb.New(cmdtest.Since.Add(-2 * time.Hour))
		}, "leader", OK, "a leads"},
		{"no leader", func(s *workloadresizerv1.GetStatusResponse) { s.Leader = nil }, "leader", Failure, "no replica leads"},
		{"a single replica", func(s *workloadresizerv1.GetStatusResponse) { s.Leader.RenewTime = nil }, "leader", OK, "the only replica"},
		{"a dry run", func(s *workloadresizerv1.GetStatusResponse) { s.DryRun = true }, "leader", Warning, "--dry-run"},
		{"a short queue", func(s *workloadresizerv1.GetStatusResponse) { s.QueueLength = 100 }, "queue", OK, "100 pods to process"},
		{"a problem", func(s *workloadresizerv1.GetStatusResponse) { s.Problems = []string{"the ConfigMap is gone"} }, "problems", Failure, "the ConfigMap is gone"},
		{"no leader as a problem", func(s *workloadresizerv1.GetStatusResponse) {
			s.Leader, s.Problems = nil, []string{"no leader is known"}
		}, "problems", Failure, "no leader"},
		{"no holds", func(*workloadresizerv1.GetStatusResponse) {}, "holds", OK, "nothing is frozen"},
		{"holds", func(s *workloadresizerv1.GetStatusResponse) { s.Holds = 2 }, "holds", Warning, "2 holds"},
		{"open breakers", func(s *workloadresizerv1.GetStatusResponse) { s.Holds, s.WorkloadBreakers = 2, 1 }, "holds", Warning, "the breakers of 1 workload are open"},
		{"the open breaker of a namespace", func(s *workloadresizerv1.GetStatusResponse) { s.Holds, s.NamespaceBreakers = 2, 1 }, "holds", Warning, "the breakers of 1 namespace are open"},
		{"the open breaker of the cluster", func(s *workloadresizerv1.GetStatusResponse) {
			s.Holds, s.ClusterBreaker = 1, &workloadresizerv1.Hold{Reason: "7 of 40"}
		}, "holds", Warning, "the breaker of the cluster is open: 7 of 40"},
		{"a freeze", func(s *workloadresizerv1.GetStatusResponse) { s.Freeze = &workloadresizerv1.Freeze{Reason: "outage"} }, "holds", Warning, "outage"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := on("v1.36.3")
			s.status = healthy()
			tc.change(s.status)
			has(t, s.serverGroup(t.Context()), tc.check, tc.level, tc.text)
		})
	}
}

func TestFailures(t *testing.T) {
	event := func(name, pod string, last time.Time) *corev1.Event {
		return &corev1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Reason: "ResizeFailed", Message: "write " + name,
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: pod}, LastTimestamp: metav1.NewTime(last),
		}
	}
	series := event("series", "db-0", time.Time{})
	series.EventTime = metav1.NewMicroTime(cmdtest.Since.Add(-time.Hour))
	series.Series = &corev1.EventSeries{LastObservedTime: metav1.NewMicroTime(cmdtest.Since.Add(-time.Minute))}
	old := event("old", "web-1", cmdtest.Since.Add(-11*time.Minute))
	for _, tc := range []struct {
		name   string
		events []runtime.Object
		level  Level
		text   string
	}{
		{"no events", nil, OK, "no resize failed in the last 10 minutes"},
		{"an old event", []runtime.Object{old}, OK, "no resize failed"},
		{"a pod with two events", []runtime.Object{event("a", "web-0", cmdtest.Since.Add(-2*time.Minute)), event("b", "web-0", cmdtest.Since), old}, Warning, "resizes of 1 pod failed in the last 10 minutes: shop/web-0; the newest: write b"},
		{"an event that repeats", []runtime.Object{series}, Warning, "shop/db-0; the newest: write series"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := on("v1.36.3")
			s.kube = fake.NewClientset(tc.events...)
			has(t, s.failures(t.Context()), "failed-resizes", tc.level, tc.text)
		})
	}
}

// The remedy says what to do about an error, and the message does not.
func TestServerThatDoesNotAnswer(t *testing.T) {
	for text, remedy := range map[string]string{
		"no server answers at a: refused; start a server": "start a server",
		"no server answers at a: refused":                 "see why it does not answer: kubectl -n resizer get pods",
	} {
		s := on("v1.36.3")
		s.namespace, s.statusErr = "resizer", errors.New(text)
		want := failure("api", remedy, "the server does not answer: no server answers at a: refused")
		if got := s.serverGroup(t.Context()); !slices.Equal(got, []Result{want}) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestOtherProblems(t *testing.T) {
	s := on("v1.36.3")
	s.status = &workloadresizerv1.GetStatusResponse{Problems: []string{"ConfigMap a is invalid", "implausible ratio: n4 would be", "implausible ratio: c3 would be", "holds are not read"}}
	s.table = &workloadresizerv1.ListRatiosResponse{
		Sources: []*workloadresizerv1.RatioSource{{Name: "override", Healthy: true}, {Name: "configmap", Message: "ConfigMap a is invalid"}},
		Ratios:  []*workloadresizerv1.Ratio{{NodeType: "n4", Implausible: "n4 would be"}},
	}
	s.rules = &workloadresizerv1.ListRatioRulesResponse{Rules: []*workloadresizerv1.RatioRule{{Implausible: map[string]string{"c3": "c3 would be"}}}}
	if got := s.otherProblems(); !slices.Equal(got, []string{"holds are not read"}) {
		t.Errorf("%q are not reported elsewhere", got)
	}
	results := s.configuration(t.Context())
	has(t, results, "implausible-ratios", Warning, "c3 would be")
	has(t, results, "ratio-sources", Failure, "ConfigMap a is invalid")
}

func TestDemandModes(t *testing.T) {
	const observe, initial, apply = workloadresizerv1.DemandMode_DEMAND_MODE_OBSERVE, workloadresizerv1.DemandMode_DEMAND_MODE_INITIAL, workloadresizerv1.DemandMode_DEMAND_MODE_APPLY
	of := func(globals, rule workloadresizerv1.DemandMode) *subject {
		s := on("v1.36.3")
		s.status, s.table = &workloadresizerv1.GetStatusResponse{}, &workloadresizerv1.ListRatiosResponse{DemandMode: globals}
		s.rules = &workloadresizerv1.ListRatioRulesResponse{Rules: []*workloadresizerv1.RatioRule{{Name: "overrides[0] (web)", DemandMode: rule}}}
		s.usage = &workloadresizerv1.GetUsageStatusResponse{Sources: []*workloadresizerv1.UsageSource{{Name: "metrics"}}}
		return s
	}
	if got := of(observe, workloadresizerv1.DemandMode_DEMAND_MODE_AUTHOR).demandModes(); got != nil {
		t.Errorf("no mode that matters: %+v", got)
	}
	has(t, of(observe, initial).configuration(t.Context()), "demand-mode", Warning, "demand.mode is initial (overrides[0] (web)), but the server does not size pods at their creation")
	creating := of(observe, initial)
	creating.status.SizesAtCreation = true
	has(t, creating.configuration(t.Context()), "demand-mode", OK, "new pods are sized by usage: demand.mode is initial (overrides[0] (web))")
	has(t, of(apply, apply).configuration(t.Context()), "demand-mode", OK, "pods are resized by usage: demand.mode is apply (pods without a rule, overrides[0] (web))")
	s := of(apply, observe)
	s.usage, s.usageErr = nil, cmdtest.WithReason(codes.FailedPrecondition, "USAGE_DISABLED", "the server runs without sources of usage")
	has(t, s.configuration(t.Context()), "demand-mode", Warning, "demand.mode is apply (pods without a rule), but usage is not collected")
	s = of(apply, observe)
	s.usage.Sources = nil
	has(t, s.configuration(t.Context()), "demand-mode", Warning, "there is no source of usage")
}

func TestUnusedDemandModes(t *testing.T) {
	const none, author, initial, apply = workloadresizerv1.DemandMode_DEMAND_MODE_UNSPECIFIED, workloadresizerv1.DemandMode_DEMAND_MODE_AUTHOR, workloadresizerv1.DemandMode_DEMAND_MODE_INITIAL, workloadresizerv1.DemandMode_DEMAND_MODE_APPLY
	for _, tc := range []struct {
		name                  string
		globals, unused, rule workloadresizerv1.DemandMode
		want                  string
	}{
		{"nothing is unused", none, none, author, ""},
		{"all pods", apply, none, author, "(pods without a rule)"},
		{"a rule", none, initial, author, "(overrides[0] (web))"},
		{"both", apply, initial, author, "(pods without a rule, overrides[0] (web))"},
		{"a mode for all pods that a rule uses", apply, none, apply, ""},
		{"a mode for all pods that a rule replaces", initial, none, apply, "(pods without a rule)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := on("v1.36.3")
			s.status, s.table = &workloadresizerv1.GetStatusResponse{}, &workloadresizerv1.ListRatiosResponse{DemandMode: author, UnusedDemandMode: tc.globals}
			s.rules = &workloadresizerv1.ListRatioRulesResponse{Rules: []*workloadresizerv1.RatioRule{{Name: "overrides[0] (web)", DemandMode: tc.rule, UnusedDemandMode: tc.unused}}}
			s.usage = &workloadresizerv1.GetUsageStatusResponse{Sources: []*workloadresizerv1.UsageSource{{Name: "metrics"}}}
			found := s.configuration(t.Context())
			if tc.want != "" {
				has(t, found, "demand-mode", Warning, "demand.mode has no effect without demand.from: usage "+tc.want)
			} else if slices.ContainsFunc(found, func(r Result) bool { return r.Level == Warning }) {
				t.Errorf("%+v", found)
			}
		})
	}
}

func TestQueue(t *testing.T) {
	for later, level := range map[int64]Level{150: OK, 200: Warning, 300: Warning} {
		server := cmdtest.Answering(cmdtest.Returns(&workloadresizerv1.GetStatusResponse{QueueLength: later}))
		root := &cobra.Command{Use: "resizectl"}
		s := on("v1.36.3")
		s.server = connect.New(root, io.Discard, "test", false)
		if err := root.PersistentFlags().Set("server", server.Serve(t)); err != nil {
			t.Fatal(err)
		}
		s.status = &workloadresizerv1.GetStatusResponse{QueueLength: 200}
		has(t, []Result{s.lag(t.Context())}, "queue", level, fmt.Sprint(later, " pods to process"))
	}
}

func TestUsageSources(t *testing.T) {
	sources := func(change func(*workloadresizerv1.GetUsageStatusResponse)) *workloadresizerv1.GetUsageStatusResponse {
		at := func(after time.Duration) *timestamppb.Timestamp {
			return timestamppb.New(cmdtest.Since.Add(after))
		}
		resp := &workloadresizerv1.GetUsageStatusResponse{
			Sources: []*workloadresizerv1.UsageSource{
				{Name: "push"},
				{Name: "metrics.k8s.io", ReadTime: at(280 * time.Minute), SampleTime: at(279 * time.Minute), Message: "read usage from metrics.k8s.io: the server could not find the requested resource"},
				{Name: "prometheus", ReadTime: at(2 * time.Hour), SampleTime: at(2 * time.Hour)},
			},
			Storage:    &workloadresizerv1.UsageStorage{Message: "ConfigMap workload-resizer-system/workload-resizer-usage-1 cannot be read"},
			Collecting: true,
		}
		change(resp)
		return resp
	}
	whole := sources(func(*workloadresizerv1.GetUsageStatusResponse) {})
	for _, tc := range []struct {
		name  string
		usage *workloadresizerv1.GetUsageStatusResponse
		err   error
		level Level
		text  string
	}{
		{"a source that is read", whole, nil, OK, "usage is collected from prometheus, and was read until 2026-11-21T03:02:03Z"},
		{"a source that was not read", whole, nil, OK, "usage is collected from push: nothing was read yet"},
		{"a source that fails", whole, nil, Warning, "source metrics.k8s.io: read usage"},
		{"storage that fails", whole, nil, Warning, "storage: ConfigMap"},
		{"a source that fails for an unknown reason", sources(func(r *workloadresizerv1.GetUsageStatusResponse) { r.Sources[0].Message = "odd" }), nil, Warning, "source push: odd"},
		{"a replica that does not collect", sources(func(r *workloadresizerv1.GetUsageStatusResponse) { r.Collecting = false }), nil, OK, "from push by the leader"},
		{"a server without sources", nil, cmdtest.WithReason(codes.FailedPrecondition, "USAGE_DISABLED", "no"), OK, "is not collected"},
		{"a caller without the right", nil, cmdtest.WithReason(codes.PermissionDenied, "NOT_AUTHORIZED", "ann may not"), Warning, "not checked: ann may not"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := on("v1.36.3")
			s.usage, s.usageErr = tc.usage, tc.err
			has(t, s.usageSources(), "usage-sources", tc.level, tc.text)
		})
	}
	t.Run("a server that is too old", func(t *testing.T) {
		s := on("v1.36.3")
		s.usageErr = status.Error(codes.Unimplemented, "unknown service")
		if found := s.usageSources(); len(found) > 0 {
			t.Errorf("got %v", found)
		}
	})
}

func TestCertificateExpiry(t *testing.T) {
	for _, tc := range []struct {
		name  string
		left  time.Duration
		level Level
		text  string
	}{
		{"a valid certificate", 8 * 24 * time.Hour, OK, "is valid until 2026-11-29T01:02:03Z"},
		{"a certificate that should have been renewed", 6 * 24 * time.Hour, Warning, "is not renewed"},
		{"an expired certificate", -time.Second, Failure, "has expired"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := on("v1.36.3")
			s.status = &workloadresizerv1.GetStatusResponse{CertificateExpireTime: timestamppb.New(s.now.Add(tc.left))}
			has(t, s.certificates(t.Context()), "certificate", tc.level, tc.text)
		})
	}
	t.Run("no certificate", func(t *testing.T) {
		s := on("v1.36.3")
		s.status = &workloadresizerv1.GetStatusResponse{}
		has(t, s.certificates(t.Context()), "certificate", OK, "without TLS")
	})
}

// The results of a report, in both forms.
func TestReport(t *testing.T) {
	groups := []Group{
		{"Kubernetes", []Result{ok("version", "the API server is version 1.36.3"), warning("kubelets", "upgrade them", "two nodes are old: a,\nb")}},
		{"Server", []Result{failure("leader", "docs/reference/alerts.md", "no replica leads")}},
	}
	var out strings.Builder
	for i := range groups {
		if err := printGroup(&out, print.Painter{}, &groups[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := printSummary(&out, print.Painter{}, groups); err != nil {
		t.Fatal(err)
	}
	cmdtest.Golden(t, "report.table", out.String())
	out.Reset()
	_, level := worst(groups)
	if err := print.Value(&out, print.FormatJSON, report{Level: level, Groups: groups}); err != nil {
		t.Fatal(err)
	}
	cmdtest.Golden(t, "report.json", out.String())
	for want, of := range map[Level][]Group{OK: {{"a", groups[0].Checks[:1]}}, Warning: groups[:1], Failure: groups} {
		if _, got := worst(of); got != want {
			t.Errorf("the level is %s, want %s", got, want)
		}
	}
}

func TestCommand(t *testing.T) {
	t.Run("needs a cluster", func(t *testing.T) {
		t.Setenv("KUBECONFIG", "no/such")
		for _, args := range [][]string{{"check"}, {"check", "--server", cmdtest.Nobody(t)}} {
			code, stdout, stderr := program.Shell(t.Context(), args...)
			if want := "error: no kubeconfig with a cluster found: set --kubeconfig or KUBECONFIG\n"; code != command.ExitError || stdout != "" || stderr != want {
				t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", args, code, stdout, stderr, want)
			}
		}
	})
	t.Run("cannot check a cluster that does not answer", func(t *testing.T) {
		code, stdout, stderr := program.Shell(t.Context(), "check", "--kubeconfig", kubeconfig(t, "http://"+cmdtest.Nobody(t)))
		if code != command.ExitError || stdout != "" || !strings.Contains(stderr, "reach the API server") {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
	})
	t.Run("does not wait longer than --timeout for an API server", func(t *testing.T) {
		silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		t.Cleanup(silent.Close)
		code, stdout, stderr := program.Shell(t.Context(), "check", "--pre", "--timeout", "100ms", "--kubeconfig", kubeconfig(t, silent.URL))
		if code != command.ExitError || stdout != "" || !strings.Contains(stderr, "does not answer within 100ms") {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
	})
	t.Run("ends with Ctrl-C, without a report", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		interrupted := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/version" {
				cancel()
			}
			_, _ = w.Write([]byte(`{"gitVersion": "v1.36.0"}`))
		}))
		t.Cleanup(interrupted.Close)
		code, stdout, stderr := program.Shell(ctx, "check", "--pre", "--kubeconfig", kubeconfig(t, interrupted.URL))
		if code != command.ExitInterrupted || stdout != "" || stderr != "" {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
	})
	t.Run("fills in the template of a format", func(t *testing.T) {
		empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/version" {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write([]byte(`{"gitVersion": "v1.36.0"}`))
		}))
		t.Cleanup(empty.Close)
		for format, want := range map[string]string{
			`jsonpath={.level} {.groups[0].checks[0].check}`:                        "failure api-server-version",
			`go-template={{.level}} {{(index (index .groups 0).checks 0).message}}`: "failure the API server is version 1.36.0",
		} {
			code, stdout, stderr := program.Shell(t.Context(), "check", "--pre", "--kubeconfig", kubeconfig(t, empty.URL), "-o", format)
			if code != command.ExitCheckFailed || stdout != want || stderr != "" {
				t.Errorf("%s: exit %d, stdout %q, stderr %q", format, code, stdout, stderr)
			}
		}
	})
}

// kubeconfig returns a kubeconfig for an API server.
func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	return cmdtest.File(t, "config", fmt.Appendf(nil, "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: %q}}]\ncontexts: [{name: a, context: {cluster: a}}]\n", url))
}

// The chart can give the ConfigMap another name.
func TestConfigName(t *testing.T) {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ours", Name: "workload-resizer"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "ours"}}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ours", Name: "server", Labels: service.Spec.Selector},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Args: []string{"serve", "--config-name=speeds"}}}},
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ours", Name: "speeds"}, Data: map[string]string{"config.yaml": "none"}}
	s := on("v1.36.3")
	s.kube, s.namespace, s.deployed = fake.NewClientset(pod, config), "ours", service
	has(t, []Result{s.configMap(t.Context())}, "configmap", Failure, "ConfigMap ours/speeds is invalid")
	needed, err := s.neededRights(s.configName(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, right := range needed {
		names[right.Name] = true
	}
	if !names["speeds"] || names[deploy.ConfigMap] {
		t.Errorf("the server needs rights for %v", names)
	}
}

func TestRightText(t *testing.T) {
	for want, right := range map[string]*authorizationv1.ResourceAttributes{
		"patch pods/resize":        attributes("patch", "", "pods/resize", "", ""),
		"list pods.metrics.k8s.io": attributes("list", "metrics.k8s.io", "pods", "", ""),
		"get configmaps speeds":    attributes("get", "", "configmaps", "ours", "speeds"),
	} {
		if got := rightText(right); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
