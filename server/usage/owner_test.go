package usage

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
	usagestore "github.com/workload-resizer/workload-resizer/usage"
)

var (
	// everything stands for all pods.
	everything = usagestore.Workload{}

	secondSet = &workloadresizerv1.Workload{Kind: "ReplicaSet", Name: "web-2"}
)

// rolling moves one of the pods of web to a second ReplicaSet.
func rolling(p *corev1.Pod) {
	if p.Name == "web-y" {
		p.OwnerReferences[0].Name, p.Labels["pod-template-hash"] = "web-2", "2"
	}
}

func TestOwners(t *testing.T) {
	t.Run("a watch of an owner gets what its list has", aWatchOfAnOwnerGetsWhatItsListHas)
	t.Run("what nobody watches is kept for a while, so that a watch can resume", whatNobodyWatchesIsKeptForAWhile)
	t.Run("an owner has the history of the workload that its pods count for", theHistoryOfAnOwnerIsThatOfTheWorkload)
	t.Run("says what is the case with the pods of a workload that is not known", saysWhatIsTheCaseWithThePods)
}

func aWatchOfAnOwnerGetsWhatItsListHas(t *testing.T) {
	f := newFixture(t, servertest.All, nil, rolling)
	f.known()
	for _, namespace := range []string{"shop", ""} {
		_, list := f.list(&workloadresizerv1.ListRecommendationsRequest{Namespace: namespace, Workload: secondSet})
		if all := list.GetRecommendations(); len(all) != 1 || all[0].GetWorkload().GetName() != "web" || all[0].GetSums().GetPods() != 1 {
			t.Fatalf("%v", all)
		}
		stream, err := f.client.WatchRecommendations(t.Context(), &workloadresizerv1.WatchRecommendationsRequest{Namespace: namespace, Workload: secondSet})
		if err != nil {
			t.Fatal(err)
		}
		next := func() *workloadresizerv1.WatchRecommendationsResponse {
			m, err := stream.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if r := m.GetRecommendation(); r != nil && (r.GetWorkload().GetName() != "web" || r.GetSums().GetPods() != 1) {
				t.Errorf("%v", m)
			}
			return m
		}
		if first := next(); first.GetType() != workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_ADDED {
			t.Fatalf("%v", first)
		}
		layer := servertest.Layer()
		layer.Ratios["n4"] = ratios.Ratio{CPUPerf: 2 + float64(len(namespace)), MemoryPerf: 1}
		f.parts.Source.Set(ratios.Update{Layer: layer})
		for next().GetType() != workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED {
		}
	}
}

func whatNobodyWatchesIsKeptForAWhile(t *testing.T) {
	f := newFixture(t, servertest.All, nil, rolling)
	f.known()
	l := newLog(f.parts.Loop.Demands)
	second, never := usagestore.Workload{Namespace: "shop", Kind: "ReplicaSet", Name: "web-2"}, usagestore.Workload{Namespace: "shop", Kind: "ReplicaSet", Name: "web-3"}
	for _, of := range []usagestore.Workload{second, second, never} {
		l.begin(t.Context(), of)()
	}
	if len(l.followed) != 1 || len(l.followed[second].known) != 1 {
		t.Fatalf("%v", l.followed)
	}
	var key string
	for key = range l.followed[second].known {
		if l.Get(key) == nil {
			t.Errorf("%q is not in the log", key)
		}
	}
	now := time.Now()
	if l.publish(t.Context(), now); l.followed[second] == nil || l.Get(key) == nil {
		t.Error("forgotten immediately")
	}
	if l.publish(t.Context(), now.Add(2*linger)); len(l.followed) != 0 || l.Get(key) != nil {
		t.Errorf("never forgotten: %v", l.followed)
	}
}

func theHistoryOfAnOwnerIsThatOfTheWorkload(t *testing.T) {
	f := newFixture(t, servertest.All, nil, rolling)
	f.known()
	request := &workloadresizerv1.GetUsageHistoryRequest{Namespace: "shop", Workload: secondSet, Container: "app"}
	response, err := f.client.GetUsageHistory(t.Context(), request)
	if err != nil || len(response.GetNodeTypes()) != 2 || response.GetWorkload().GetKind() != "Deployment" || response.GetWorkload().GetName() != "web" {
		t.Fatalf("%v, %v", response, err)
	}
	request.Container = "ap"
	_, err = f.client.GetUsageHistory(t.Context(), request)
	servertest.CheckError(t, err, codes.NotFound, "USAGE_UNKNOWN", "shop/ReplicaSet/web-2/ap")
	if text := status.Convert(err).Message(); !strings.HasSuffix(text, "the containers with history are app") {
		t.Error(text)
	}

	// The name of a ReplicaSet that cannot be looked up can show two Deployments.
	f = newFixture(t, servertest.All, nil, func(p *corev1.Pod) {
		if p.Namespace == "shop" && p.OwnerReferences != nil {
			p.OwnerReferences[0].Name, p.Labels["pod-template-hash"] = "web-1-2", map[string]string{"web-x": "2", "web-y": "1-2"}[p.Name]
		}
	})
	f.report(used("shopweb-x", 1, 300), used("shopweb-y", 0.8, 300), used("bankdb", 0.8, 100))
	localcluster.Eventually(t, "recommendations", func() error {
		if n := f.parts.Loop.Demands.Table().Len(); n != 3 {
			return errCount(n)
		}
		return nil
	})
	_, err = f.client.GetUsageHistory(t.Context(), &workloadresizerv1.GetUsageHistoryRequest{
		Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "ReplicaSet", Name: "web-1-2"}, Container: "app",
	})
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "workload")
	if text := status.Convert(err).Message(); !strings.Contains(text, "Deployment/web, Deployment/web-1") {
		t.Error(text)
	}
}

func saysWhatIsTheCaseWithThePods(t *testing.T) {
	of := usagestore.Workload{Namespace: "shop", Kind: "Job", Name: "report-1"}
	set := usagestore.Workload{Namespace: "shop", Kind: "ReplicaSet", Name: "web-1"}
	cron := []usagestore.Workload{{Namespace: "shop", Kind: "CronJob", Name: "report"}}
	// Through the API: a Job without an owner and the label, and one that a CronJob created and that has finished.
	f := newFixture(t, servertest.All, nil, func(p *corev1.Pod) {
		switch p.Name {
		case "web-x":
			p.OwnerReferences[0].APIVersion, p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name = "batch/v1", "Job", "once"
		case "web-y":
			p.OwnerReferences[0].APIVersion, p.OwnerReferences[0].Kind, p.OwnerReferences[0].Name, p.Status.Phase = "batch/v1", "Job", "report-29", corev1.PodSucceeded
		}
	})
	for _, tc := range []struct {
		of   usagestore.Workload
		pods demand.Pods
		want string
	}{
		{usagestore.Workload{Kind: "Deployment"}, demand.Pods{}, "the server knows no pod of it, and " + notMeasured},
		{set, demand.Pods{}, "the server knows no pod of it (name its owner, such as a Deployment, for which its pods count), and " + notMeasured},
		{of, demand.Pods{}, "the server knows no pod of it (name the CronJob of its pods or, if there is none, the value of their label app.kubernetes.io/name), and " + notMeasured},
		{of, demand.Pods{Total: 1}, "its pod counts for no workload, because pods of a Job without an owner need the label app.kubernetes.io/name (--usage-job-label of the server)"},
		{usagestore.Workload{Kind: "Node"}, demand.Pods{Total: 2}, "its 2 pods count for no workload"},
		{of, demand.Pods{Total: 2, Finished: 1, Unscheduled: 1, CountFor: cron}, "its 2 pods count for CronJob/report, no pod of it runs (1 finished, 1 without a node), and " + notMeasured},
		{set, demand.Pods{Total: 1, Unscheduled: 1, CountFor: []usagestore.Workload{set}}, "no pod of it runs (0 finished, 1 without a node), and " + notMeasured},
	} {
		if got := f.service.whyUnknown(tc.of, tc.pods); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.pods, got, tc.want)
		}
	}
	for name, want := range map[string]string{"once": "its pod counts for no workload, because", "report-29": "its pod counts for CronJob/report, no pod of it runs (1 finished, 0 without a node), and "} {
		_, err := f.client.GetRecommendation(t.Context(), &workloadresizerv1.GetRecommendationRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Job", Name: name}})
		servertest.CheckError(t, err, codes.NotFound, "USAGE_UNKNOWN", "shop/Job/"+name)
		if text := status.Convert(err).Message(); !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
		_, err = f.client.GetUsageHistory(t.Context(), &workloadresizerv1.GetUsageHistoryRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Job", Name: name}, Container: "app"})
		servertest.CheckError(t, err, codes.NotFound, "USAGE_UNKNOWN", "shop/Job/"+name+"/app")
		if text := status.Convert(err).Message(); !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
}
