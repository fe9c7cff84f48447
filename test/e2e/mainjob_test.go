package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const ns = deploy.SampleNamespace

// samplePods is the number of sample pods: web, api, db, agent (one per node), report,
// opted-out, bare.
const samplePods = 4 + 4 + 3 + 8 + 2 + 1 + 1

// mainJob runs with the default settings.
func (c *cluster) mainJob(t *testing.T) {
	c.configure(t, deploy.SampleConfig())
	c.apply(t, deploy.SampleWorkloads())
	c.awaitRunning(t, ns, samplePods)

	// A dry run shows previews and writes nothing.
	untouched := byName(c.pods(t, ns))
	dry := c.serveReady(t, "--dry-run")
	previews := dry.plans(t, ns)
	for name := range untouched {
		single, err := dry.api.PreviewPod(t.Context(), ns, name)
		if diff := cmp.Diff(previews[name], single, protocmp.Transform()); err != nil || diff != "" {
			t.Errorf("PreviewPod and PreviewPlans of %s differ: %v, %s", name, err, diff)
		}
	}
	for name, preview := range previews {
		// The log has every pod that it would write, not just the first one.
		if preview.GetDecision() != workloadresizerv1.Decision_DECISION_SKIP {
			awaitLog(t, dry, `"msg":"Dry run, pod not changed","pod":{"Namespace":"`+ns+`","Name":"`+name+`"}`)
		}
	}
	if err := dry.Stop(); err != nil {
		t.Fatal(err)
	}
	for name, p := range byName(c.pods(t, ns)) {
		if diff := cmp.Diff(untouched[name].Spec, p.Spec); diff != "" || ours(p.Annotations) != nil {
			t.Errorf("a dry run changed pod %s: %s, %v", name, diff, ours(p.Annotations))
		}
	}

	// The real run does what was previewed.
	s := c.serveReady(t)
	c.awaitSettled(t, s, ns)
	c.awaitActuated(t, ns)
	pods := byName(c.pods(t, ns))
	if got, want := slices.Sorted(maps.Keys(pods)), slices.Sorted(maps.Keys(previews)); !slices.Equal(got, want) {
		t.Fatalf("pods %v, previews of %v", got, want)
	}
	decisions := map[string]int{}
	for name, p := range pods {
		preview := previews[name]
		decisions[preview.GetDecision().String()]++
		t.Run(name, func(t *testing.T) { c.checkPod(t, untouched[name], p, preview) })
	}
	for _, decision := range []string{"DECISION_RESIZE", "DECISION_ALIGNED", "DECISION_SKIP"} {
		if decisions[decision] == 0 {
			t.Errorf("no sample pod has the decision %s: %v", decision, decisions)
		}
	}

	// The expected sizes, spelled out.
	for _, want := range []struct {
		workload, nodeType string
		qos                corev1.PodQOSClass
		resources          map[string][4]string // cpu request, limit, memory request, limit
	}{
		{"web", "n2d", corev1.PodQOSGuaranteed, map[string][4]string{"web": {"1", "1", "1Gi", "1Gi"}}},
		{"web", "n4", corev1.PodQOSGuaranteed, map[string][4]string{"web": {"800m", "800m", "1Gi", "1Gi"}}},
		{"web", "c3", corev1.PodQOSGuaranteed, map[string][4]string{"web": {"769m", "769m", "1Gi", "1Gi"}}},
		{"api", "n4", corev1.PodQOSBurstable, map[string][4]string{"api": {"400m", "1600m", "256Mi", "512Mi"}}},
		{"agent", "n2d", corev1.PodQOSBurstable, map[string][4]string{"agent": {"100m", "", "64Mi", ""}}},
		{"agent", "n4", corev1.PodQOSBurstable, map[string][4]string{"agent": {"80m", "", "64Mi", ""}}},
		{"agent", "c3", corev1.PodQOSBurstable, map[string][4]string{"agent": {"77m", "", "64Mi", ""}}},
		{"agent", "x9", corev1.PodQOSBurstable, map[string][4]string{"agent": {"100m", "", "64Mi", ""}}},
	} {
		p := find(pods, want.workload, want.nodeType)
		if p == nil {
			t.Errorf("no pod of %s on %s", want.workload, want.nodeType)
			continue
		}
		if p.Status.QOSClass != want.qos {
			t.Errorf("%s on %s is %s", want.workload, want.nodeType, p.Status.QOSClass)
		}
		for i := range p.Spec.Containers {
			container := &p.Spec.Containers[i]
			if got := texts(container.Resources); got != want.resources[container.Name] {
				t.Errorf("%s on %s has %v, want %v", want.workload, want.nodeType, got, want.resources[container.Name])
			}
		}
	}

	// Events, and skipped pods.
	web := find(pods, "web", "n4")
	c.awaitEvent(t, ns, web.UID, "Resized", "web: cpu 1 → 800m, memory 1Gi")
	c.awaitEvent(t, ns, find(pods, "web", "n2d").UID, "AlreadyAligned", "n2d")
	c.awaitEvent(t, ns, find(pods, "agent", "x9").UID, "UnknownNodeType", `"x9"`)
	// A node without a cloud provider's label still has an architecture.
	c.awaitEvent(t, ns, find(pods, "agent", "").UID, "UnknownNodeType", "label kubernetes.io/arch")
	c.checkSkipped(t, s, pods["bare"], "NotOwned")
	c.checkSkipped(t, s, find(pods, "opted-out", "any"), "OptedOut")
	c.checkSkipped(t, s, find(pods, "agent", "x9"), "UnknownNodeType")
	c.checkSkipped(t, s, find(pods, "agent", ""), "UnknownNodeType")
	if err := s.Stop(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
	if strings.Contains(s.Log(), "orbidden") {
		t.Error("the manifests do not grant all rights that the server needs")
	}
}

// checkPod compares a pod with its earlier preview.
func (c *cluster) checkPod(t *testing.T, before, after *corev1.Pod, preview *workloadresizerv1.Plan) {
	if after.UID != before.UID || after.Status.QOSClass != before.Status.QOSClass {
		t.Errorf("the pod changed from %s %s to %s %s", before.UID, before.Status.QOSClass, after.UID, after.Status.QOSClass)
	}
	wanted := map[string]string{}
	record := func(key, value string) {
		if value != "" {
			wanted["workload-resizer.io/"+key] = value
		}
	}
	skipped := preview.GetDecision() == workloadresizerv1.Decision_DECISION_SKIP
	for i := range after.Spec.Containers {
		container, plan := &after.Spec.Containers[i], preview.GetContainers()[i]
		status := statusOf(after, container.Name)
		if status == nil || status.Resources == nil {
			t.Errorf("container %s has no status", container.Name)
			continue
		}
		for _, of := range []struct {
			name string
			want map[string]string
			got  corev1.ResourceList
		}{
			{"requests", plan.GetDesired().GetRequests(), container.Resources.Requests},
			{"limits", plan.GetDesired().GetLimits(), container.Resources.Limits},
			{"actual requests", plan.GetDesired().GetRequests(), status.Resources.Requests},
			{"actual limits", plan.GetDesired().GetLimits(), status.Resources.Limits},
		} {
			if !sameQuantities(of.want, of.got) {
				t.Errorf("container %s: %s are %v, previewed %v", container.Name, of.name, of.got, of.want)
			}
		}
		if status.RestartCount != 0 {
			t.Errorf("container %s restarted %d times", container.Name, status.RestartCount)
		}
		if !skipped {
			r := before.Spec.Containers[i].Resources
			record("original-cpu."+container.Name, text(r.Requests, corev1.ResourceCPU))
			record("original-memory."+container.Name, text(r.Requests, corev1.ResourceMemory))
			record("original-cpu-limit."+container.Name, text(r.Limits, corev1.ResourceCPU))
			record("original-memory-limit."+container.Name, text(r.Limits, corev1.ResourceMemory))
		}
	}
	if !skipped {
		record("applied-instance-type", preview.GetNodeType())
	}
	got := ours(after.Annotations)
	if at, ok := got["workload-resizer.io/applied-at"]; ok != !skipped {
		t.Errorf("applied-at is %q", at)
	} else if _, err := time.Parse(time.RFC3339, at); ok && err != nil {
		t.Errorf("applied-at: %v", err)
	}
	delete(got, "workload-resizer.io/applied-at")
	recorded := pod.ParseAppliedSizes(got["workload-resizer.io/applied-sizes"])
	if resized := preview.GetDecision() == workloadresizerv1.Decision_DECISION_RESIZE; (recorded != nil) != resized {
		t.Errorf("applied-sizes is %q", got["workload-resizer.io/applied-sizes"])
	}
	for i := range recorded {
		r, c := &recorded[i], &after.Spec.Containers[i]
		if r.Name != c.Name || r.From != sizing.FromResources(before.Spec.Containers[i].Resources) || r.To != sizing.FromResources(c.Resources) {
			t.Errorf("container %s: applied-sizes is %v", c.Name, *r)
		}
	}
	delete(got, "workload-resizer.io/applied-sizes")
	if len(got) == 0 {
		got = map[string]string{}
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("annotations: %s", diff)
	}
}

// checkSkipped checks that a pod has no annotation of the server and that the API reports
// the reason.
func (c *cluster) checkSkipped(t *testing.T, s *server, p *corev1.Pod, reason string) {
	t.Helper()
	plan, err := s.api.PreviewPod(t.Context(), p.Namespace, p.Name)
	if err != nil {
		t.Fatal(err)
	}
	if plan.GetDecision() != workloadresizerv1.Decision_DECISION_SKIP || plan.GetReasons()[0].GetCode() != reason || plan.GetReasons()[0].GetMessage() == "" {
		t.Errorf("pod %s: %v, want a skip because of %s", p.Name, plan, reason)
	}
	if got := ours(p.Annotations); got != nil {
		t.Errorf("pod %s has %v", p.Name, got)
	}
}

// ratioChange changes the ratio of n4. Its pods are resized from their originals, and no
// other pod is written.
func (c *cluster) ratioChange(t *testing.T) {
	s := c.serveReady(t)
	c.awaitSettled(t, s, ns)
	before := byName(c.pods(t, ns))
	t.Cleanup(func() { c.apply(t, promptConfig()) })
	c.apply(t, []byte(strings.Replace(string(promptConfig()), "cpuPerf: 1.25", "cpuPerf: 2.0", 1)))
	localcluster.Eventually(t, "the new ratio to take effect", func() error {
		list, err := s.api.ListRatios(t.Context())
		if err != nil {
			return err
		}
		for _, r := range list.GetRatios() {
			if r.GetNodeType() == "n4" && r.GetCpuFactor() == 0.5 {
				return nil
			}
		}
		return fmt.Errorf("ratios %v", list)
	})
	c.awaitSettled(t, s, ns)
	c.awaitActuated(t, ns)
	for name, p := range byName(c.pods(t, ns)) {
		if nodeType(p.Spec.NodeName) != "n4" || before[name].Annotations["workload-resizer.io/applied-at"] == "" {
			if p.Generation != before[name].Generation || !cmp.Equal(p.Annotations, before[name].Annotations) {
				t.Errorf("pod %s on %s was written", name, p.Spec.NodeName)
			}
			continue
		}
		for i := range p.Spec.Containers {
			container := &p.Spec.Containers[i]
			original := resource.MustParse(p.Annotations["workload-resizer.io/original-cpu."+container.Name])
			want := max(50, (original.MilliValue()+1)/2)
			if got := container.Resources.Requests.Cpu().MilliValue(); got != want {
				t.Errorf("container %s of %s has %dm, want %dm", container.Name, name, got, want)
			}
			if status := statusOf(p, container.Name); status == nil || status.RestartCount != 0 {
				t.Errorf("container %s of %s restarted: %v", container.Name, name, status)
			}
		}
	}
	c.apply(t, promptConfig())
	localcluster.Eventually(t, "the old sizes to return", func() error {
		for name, p := range byName(c.pods(t, ns)) {
			if diff := cmp.Diff(before[name].Spec.Containers, p.Spec.Containers); diff != "" {
				return fmt.Errorf("pod %s: %s", name, diff)
			}
		}
		return nil
	})
	c.awaitSettled(t, s, ns)
}

// awaitActuated waits until the kubelets report the sizes in the specs.
func (c *cluster) awaitActuated(t *testing.T, namespace string) {
	t.Helper()
	localcluster.Eventually(t, "the kubelets to report the sizes", func() error {
		for _, p := range c.pods(t, namespace) {
			for i := range p.Spec.Containers {
				container := &p.Spec.Containers[i]
				status := statusOf(&p, container.Name)
				if status == nil || status.Resources == nil || texts(*status.Resources) != texts(container.Resources) {
					return fmt.Errorf("container %s of %s has %v, its spec %v", container.Name, p.Name, status, texts(container.Resources))
				}
			}
		}
		return nil
	})
}

// statusOf returns the status of a container, nil if there is none yet. Statuses are not
// in the spec's order.
func statusOf(p *corev1.Pod, container string) *corev1.ContainerStatus {
	for i := range p.Status.ContainerStatuses {
		if p.Status.ContainerStatuses[i].Name == container {
			return &p.Status.ContainerStatuses[i]
		}
	}
	return nil
}

func byName(pods []corev1.Pod) map[string]*corev1.Pod {
	m := map[string]*corev1.Pod{}
	for i := range pods {
		m[pods[i].Name] = &pods[i]
	}
	return m
}

// nodeType returns the type of a node by its name, "" for the node without a type.
func nodeType(node string) string {
	t, _, _ := strings.Cut(node, "-")
	if t == "node" {
		return ""
	}
	return t
}

// find returns a pod of a workload on a node of a type, nil if there is none.
func find(pods map[string]*corev1.Pod, workload, onType string) *corev1.Pod {
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		p := pods[name]
		if p.Labels["app"] == workload && (onType == "any" || nodeType(p.Spec.NodeName) == onType) {
			return p
		}
	}
	return nil
}

// ours returns the annotations of the contract, except for the user's own.
func ours(annotations map[string]string) map[string]string {
	var m map[string]string
	for key, value := range annotations {
		if strings.HasPrefix(key, "workload-resizer.io/") && key != "workload-resizer.io/skip" {
			if m == nil {
				m = map[string]string{}
			}
			m[key] = value
		}
	}
	return m
}

func text(list corev1.ResourceList, name corev1.ResourceName) string {
	q, ok := list[name]
	if !ok {
		return ""
	}
	return q.String()
}

func texts(r corev1.ResourceRequirements) [4]string {
	return [4]string{
		text(r.Requests, corev1.ResourceCPU), text(r.Limits, corev1.ResourceCPU),
		text(r.Requests, corev1.ResourceMemory), text(r.Limits, corev1.ResourceMemory),
	}
}

func sameQuantities(want map[string]string, got corev1.ResourceList) bool {
	if len(want) != len(got) {
		return false
	}
	for name, q := range got {
		w, err := resource.ParseQuantity(want[string(name)])
		if err != nil || w.Cmp(q) != 0 {
			return false
		}
	}
	return true
}
