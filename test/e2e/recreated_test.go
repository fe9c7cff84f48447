package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

var (
	recreationsFlag = flag.Int("recreations", 60, "number of pods that TestRecreated deletes")
	pendingFlag     = flag.Duration("pending", localcluster.Patience, "time within which a pod that replaces one must have a node")
)

// recreatedTypes are the node types, with what containers need there of what they need on the baseline.
var recreatedTypes = map[string]float64{"n2d": 1, "n4": 0.8, "c3": 1.25}

// recreatedConfig applies what usage shows immediately.
const recreatedConfig = `
apiVersion: v1
kind: ConfigMap
metadata: {name: workload-resizer-config, namespace: workload-resizer-system}
data:
  config.yaml: |
    baselineNodeType: n2d
    nodeTypes:
      n2d: {cpuPerf: 1, memPerf: 1}
      n4: {cpuPerf: 1.25, memPerf: 1}
      c3: {cpuPerf: 0.8, memPerf: 1}
    guard: {maxUnproven: 100%}
    demand: {from: usage, mode: apply, minHistory: 0s, minCoverage: 0}
`

// recreatedWorkload has pods that use some cores of a n2d; %[1]s is the kind, %[2]s its name, %[3]s the replicas, %[4]s what
// restricts its nodes and %[5]s what it uses.
const recreatedWorkload = `
apiVersion: apps/v1
kind: %[1]s
metadata: {name: %[2]s, namespace: created}
spec:
  %[3]s
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}, annotations: {work.testcluster.local/app: '%[5]s'}}
    spec:
      terminationGracePeriodSeconds: 1
      %[4]s
      containers: [{name: app, image: none, resources: {requests: {cpu: 500m, memory: 256Mi}, limits: {cpu: "2"}}}]
`

// TestRecreated deletes pods whose sizes follow usage, while replicas end. Those that replace them must start with what
// the table of the leader says.
func TestRecreated(t *testing.T) {
	t.Parallel()
	r := &recreated{cluster: newCluster(localcluster.ForTestWith(t, localcluster.Options{Nodes: "n2d=1,n4=1:speed=1.25,c3=1:speed=0.8", NodeCPU: 64, NodeMemory: "128Gi", MetricsServer: true})), pods: map[types.UID]*made{}}
	r.install(t)
	r.apply(t, []byte(createdNamespace), []byte(recreatedConfig))
	// As a DaemonSet and as Deployments on one type each, and as one on any type.
	for i, nodeType := range []string{"n2d", "n4", "c3"} {
		work := fmt.Sprintf("{cpu: [{constant: %dm}, {noise: 20, step: 10s}], memory: %dMi}", 200+100*i, 100+50*i)
		r.apply(t, fmt.Appendf(nil, recreatedWorkload, "Deployment", "on-"+nodeType, "replicas: 4", "nodeSelector: {cloud.google.com/machine-family: "+nodeType+"}", work))
	}
	r.apply(t, fmt.Appendf(nil, recreatedWorkload, "Deployment", "anywhere", "replicas: 4", "", "{cpu: 300m, memory: 120Mi}"),
		fmt.Appendf(nil, recreatedWorkload, "DaemonSet", "agent", "", "", "{cpu: 250m, memory: 80Mi}"))
	const running = 3*4 + 4 + 3
	r.awaitRunning(t, "created", running)
	address := r.webhook(t)
	r.balance(t, address)
	r.add(t)
	r.follow(t)
	for range 2 {
		r.add(t)
	}
	for _, s := range r.replicas {
		localcluster.Eventually(t, "each replica to have read what usage shows", func() error {
			_, err := read(t.Context(), s)
			return err
		})
	}
	r.observe(t)

	began := time.Now()
	for n := range *recreationsFlag {
		if every := max(*recreationsFlag/5, 1); n%every == every/2 {
			r.replaceLeader(t, n/every == 2)
		}
		pods := r.runs(t)
		if err := r.client.CoreV1().Pods("created").Delete(t.Context(), pods[rand.IntN(len(pods))], metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	r.awaitRunning(t, "created", running)
	took := time.Since(began)
	r.judge(t, took)
	t.Run("creations per second", r.rates)
}

// recreated is a cluster, the replicas of a server that size its pods at their creation, and what they should make of them.
type recreated struct {
	*cluster
	replicas []*server

	mu sync.Mutex
	// webhooks are the addresses of the webhooks of the replicas.
	webhooks []string
	// tables are what the leader has published, in the order of time.
	tables []published
	pods   map[types.UID]*made
}

// published is what workloads need on the baseline, in cores and bytes.
type published struct {
	at    time.Time
	needs map[string][2]float64
}

// made is a pod that was created while pods were deleted.
type made struct {
	// at is when it was created, and pod is what it was then.
	at  time.Time
	pod *corev1.Pod
	// resized means that it was resized since, scheduled is when it got a node, and ran is when it was first seen to run.
	resized        bool
	scheduled, ran time.Time
}

// balance forwards connections to the webhook of any replica, as a Service does.
func (r *recreated) balance(t *testing.T, address string) {
	t.Helper()
	listener := listening(t, address)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go r.forward(from)
		}
	}()
}

// forward copies what a connection sends to the first replica in random order that answers.
func (r *recreated) forward(from net.Conn) {
	defer func() { _ = from.Close() }()
	r.mu.Lock()
	addresses := slices.Clone(r.webhooks)
	r.mu.Unlock()
	rand.Shuffle(len(addresses), func(i, j int) { addresses[i], addresses[j] = addresses[j], addresses[i] })
	for _, address := range addresses {
		to, err := net.Dial("tcp", address)
		if err != nil {
			continue
		}
		defer func() { _ = to.Close() }()
		go func() {
			_, _ = io.Copy(to, from)
			_ = to.Close()
		}()
		_, _ = io.Copy(from, to)
		return
	}
}

// add starts another replica.
func (r *recreated) add(t *testing.T) {
	t.Helper()
	address, err := localcluster.FreeAddress("")
	if err != nil {
		t.Fatal(err)
	}
	s := r.serveReady(t, "--usage-interval=10s", "--size-at-creation", "--webhook-bind-address="+address, "--tls-dns-names=localhost,"+serverName)
	localcluster.Eventually(t, "the webhook of the replica", func() error {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		return connection.Close()
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replicas, r.webhooks = append(r.replicas, s), append(r.webhooks, address)
}

// replaceLeader ends the leader, as a rollout does or by killing it, and starts another replica.
func (r *recreated) replaceLeader(t *testing.T, kill bool) {
	t.Helper()
	i := slices.IndexFunc(r.replicas, func(s *server) bool { return leads(t, s) })
	if i < 0 {
		return // The last one has just ended.
	}
	leader := r.replicas[i]
	if kill {
		if err := leader.Kill(); err != nil {
			t.Fatal(err)
		}
	}
	r.mu.Lock()
	r.replicas, r.webhooks = slices.Delete(r.replicas, i, i+1), slices.Delete(r.webhooks, i, i+1)
	r.mu.Unlock()
	if !kill {
		if err := leader.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	r.add(t)
}

// follow waits until there are recommendations for all workloads, and records from then on what the leader says they need.
func (r *recreated) follow(t *testing.T) {
	t.Helper()
	localcluster.Eventually(t, "recommendations for all workloads", func() error { return r.record(t.Context()) })
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() {
		for ctx.Err() == nil {
			_ = r.record(ctx) // There may be no leader now.
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
	})
	t.Cleanup(func() {
		cancel()
		following.Wait()
	})
}

// record records the present table of the leader.
func (r *recreated) record(ctx context.Context) error {
	r.mu.Lock()
	replicas := slices.Clone(r.replicas)
	r.mu.Unlock()
	for _, s := range replicas {
		if status, err := s.api.Status(ctx); err != nil || !status.GetLeading() {
			continue
		}
		table, err := read(ctx, s)
		if err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.tables = append(r.tables, table)
		return nil
	}
	return errors.New("no replica leads")
}

// read returns what the workloads need according to a replica.
func read(ctx context.Context, s *server) (table published, err error) {
	list, err := s.api.ListRecommendations(ctx, &workloadresizerv1.ListRecommendationsRequest{Namespace: "created"})
	if err != nil {
		return table, err
	}
	table = published{time.Now(), map[string][2]float64{}}
	for _, found := range list.GetRecommendations() {
		target := found.GetBaseline().GetTarget()
		if target.GetCpu() == "" || target.GetMemory() == "" {
			return table, fmt.Errorf("there is none for %s", found.GetWorkload().GetName())
		}
		cpu, err := resource.ParseQuantity(target.GetCpu())
		memory, fault := resource.ParseQuantity(target.GetMemory())
		if err := errors.Join(err, fault); err != nil {
			return table, err
		}
		table.needs[found.GetWorkload().GetName()] = [2]float64{cpu.AsApproximateFloat64(), memory.AsApproximateFloat64()}
	}
	if len(table.needs) != 5 {
		return table, fmt.Errorf("%d recommendations", len(table.needs))
	}
	return table, nil
}

// observe follows the pods that are created from now on.
func (r *recreated) observe(t *testing.T) {
	t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(r.client, 0, informers.WithNamespace("created"))
	pods := factory.Core().V1().Pods().Informer()
	if _, err := pods.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, existed bool) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if p := object.(*corev1.Pod); !existed {
				r.pods[p.UID] = &made{at: p.CreationTimestamp.Time, pod: p, resized: p.Generation > 1}
			}
		},
		UpdateFunc: func(_, object any) {
			r.mu.Lock()
			defer r.mu.Unlock()
			p := object.(*corev1.Pod)
			m := r.pods[p.UID]
			if m == nil {
				return
			}
			m.resized = m.resized || texts(p.Spec.Containers[0].Resources) != texts(m.pod.Spec.Containers[0].Resources)
			if m.scheduled.IsZero() && p.Spec.NodeName != "" {
				m.scheduled = time.Now()
			}
			if m.ran.IsZero() && p.Status.Phase == corev1.PodRunning {
				m.ran = time.Now()
			}
		},
	}); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
}

// runs waits until there are pods that run, and returns their names.
func (r *recreated) runs(t *testing.T) (names []string) {
	t.Helper()
	localcluster.Eventually(t, "pods that run", func() error {
		names = nil
		for _, p := range r.cluster.pods(t, "created") {
			if p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning {
				names = append(names, p.Name)
			}
		}
		if len(names) < 12 {
			return fmt.Errorf("%d run", len(names))
		}
		return nil
	})
	return names
}

// judge checks the sizes that pods were created with.
func (r *recreated) judge(t *testing.T, took time.Duration) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var ran, right, unsized, resized int
	var slowest, pending time.Duration
	for _, m := range r.pods {
		if m.ran.IsZero() {
			continue // It was deleted before.
		}
		ran++
		slowest, pending = max(slowest, m.ran.Sub(m.at)), max(pending, m.scheduled.Sub(m.at))
		if m.resized {
			resized++
		}
		err := r.wrong(m)
		switch {
		case err == nil:
			right++
		case m.pod.Annotations[contract.CreatedSizes] == "":
			unsized++
			t.Logf("pod %s was created without a size: %v", m.pod.Name, err)
		default:
			t.Errorf("pod %s: %v", m.pod.Name, err)
		}
	}
	t.Logf("%d pods were deleted in %s; of %d that replaced them and ran, %d started with the size of the leader's table, %d as their author wrote them, and %d were resized later; all had a node within %s, and ran within %s",
		*recreationsFlag, took.Round(time.Second), ran, right, unsized, resized, pending.Round(time.Second), slowest.Round(time.Second))
	if len(r.pods) < *recreationsFlag {
		t.Errorf("only %d pods replaced them", len(r.pods))
	}
	// The API server does not wait for a replica that is killed while it answers.
	if most := max(ran/1000, 1); unsized > most {
		t.Errorf("%d pods were created without a size, more than %d", unsized, most)
	}
	if pending > *pendingFlag {
		t.Errorf("a pod got a node only %s after its creation", pending)
	}
}

// wrong returns an error unless a pod was created with what a table of the last 15 minutes says.
func (r *recreated) wrong(m *made) error {
	// On any type, it gets what it needs on the slowest one.
	nodeType := "c3"
	if on, named := m.pod.Spec.NodeSelector["cloud.google.com/machine-family"]; named {
		nodeType = on
	} else if a := m.pod.Spec.Affinity; a != nil { // A DaemonSet names the node.
		name := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
		nodeType, _, _ = strings.Cut(name, "-")
	}
	requests := m.pod.Spec.Containers[0].Resources.Requests
	cpu, memory := requests.Cpu().AsApproximateFloat64(), requests.Memory().AsApproximateFloat64()
	last := errors.New("there was no table")
	for _, table := range r.tables {
		if table.at.Before(m.at.Add(-15*time.Minute)) || table.at.After(m.at.Add(5*time.Second)) {
			continue
		}
		needs := table.needs[m.pod.Labels["app"]]
		wantCPU, wantMemory := needs[0]*recreatedTypes[nodeType], needs[1]
		if cpu >= wantCPU-0.001 && cpu <= wantCPU+0.002 && memory >= wantMemory-1 && memory <= wantMemory+(1<<20) {
			return nil
		}
		last = fmt.Errorf("it requests %v cores and %v bytes on %s, not %v and %v", cpu, memory, nodeType, wantCPU, wantMemory)
	}
	return last
}

// rates measures how many pods the API server creates per second, with the webhook and without.
func (r *recreated) rates(t *testing.T) {
	const workers = 8
	each := max(*recreationsFlag/workers, 10)
	yes := true
	create := func(name string) (perSecond float64, slowest time.Duration) {
		var mu sync.Mutex
		var all []time.Duration
		var working sync.WaitGroup
		began := time.Now()
		for range workers {
			working.Go(func() {
				for range each {
					spec := app{name: name, nodeType: "n4", requests: small}.deployment().Spec.Template.Spec
					spec.SchedulerName = "none"
					at := time.Now()
					p, err := r.client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
						ObjectMeta: metav1.ObjectMeta{GenerateName: name + "-", OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name, UID: "rates", Controller: &yes}}}, Spec: spec,
					}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
					if err != nil {
						t.Error(err)
						return
					}
					if cpu := text(p.Spec.Containers[0].Resources.Requests, corev1.ResourceCPU); (cpu == "80m") != (name == "with") {
						t.Errorf("a pod %s the webhook requests %s", name, cpu)
					}
					mu.Lock()
					all = append(all, time.Since(at))
					mu.Unlock()
				}
			})
		}
		working.Wait()
		perSecond = float64(len(all)) / time.Since(began).Seconds()
		slices.Sort(all)
		return perSecond, all[len(all)*99/100]
	}
	with, slow := create("with")
	if err := r.client.AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(t.Context(), "workload-resizer-size-at-creation", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	localcluster.Eventually(t, "the API server to stop asking", func() error {
		if cpu, err := r.probe(t); err != nil || cpu != "100m" {
			return fmt.Errorf("a pod requests %q: %w", cpu, err)
		}
		return nil
	})
	without, slowWithout := create("without")
	t.Logf("%d callers create %.0f pods per second with the webhook, p99 %s, and %.0f without, p99 %s", workers, with, slow.Round(100*time.Microsecond), without, slowWithout.Round(100*time.Microsecond))
}
