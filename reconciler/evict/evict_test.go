package evict

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	zone     = corev1.LabelTopologyZone
	hostname = corev1.LabelHostname
)

// web returns a pod of a ReplicaSet on node a-1, changed by the functions.
func web(change ...func(*corev1.Pod)) *corev1.Pod {
	controller := true
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-1", UID: "web-1", Labels: map[string]string{"app": "web", "pod-template-hash": "6d4c"}, Annotations: map[string]string{},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-6d4c", Controller: &controller}},
		},
		Spec:   corev1.PodSpec{NodeName: "a-1", Containers: []corev1.Container{{Name: "app"}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// machine returns a node in the zone that its name begins with, with 4 cores and 16Gi.
func machine(name string) *Node {
	has := amounts("4", "16Gi")
	has[corev1.ResourcePods] = resource.MustParse("110")
	return &Node{
		Node: &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{hostname: name, zone: name[:1]}},
			Status:     corev1.NodeStatus{Allocatable: has, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		},
		Requested: amounts("1", "4Gi"), Limits: map[string]int{"disk": 20},
	}
}

func neighbor(name string, change ...func(*corev1.Pod)) Neighbor {
	return *neighborOf(web(append([]func(*corev1.Pod){func(p *corev1.Pod) { p.Name, p.UID = name, types.UID(name) }}, change...)...))
}

func annotated(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations[key] = value }
}

func owned(kind string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.OwnerReferences[0].Kind = kind }
}

func volume(source corev1.VolumeSource) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "data", VolumeSource: source})
	}
}

func claimed(name string) func(*corev1.Pod) {
	return volume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}})
}

func TestProtected(t *testing.T) {
	emptyDir := volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
	ephemeral := volume(corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}})
	inline := volume(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "d"}})
	claims := map[string]*Claim{"disk": {Bound: true}, "local": {Bound: true, Local: true}, "new": {}}
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"a pod of a ReplicaSet", web(), ""},
		{"one of a StatefulSet with a disk", web(owned("StatefulSet"), claimed("disk")), ""},
		{"configuration", web(volume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}), volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}})), ""},
		{"one that is deleted", web(func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }), "it is being deleted"},
		{"one that has finished", web(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }), "it has finished"},
		{"one that has failed", web(func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }), "it has finished"},
		{"a static pod", web(annotated(corev1.MirrorPodAnnotationKey, "x")), "it is a static pod"},
		{"a bare pod", web(func(p *corev1.Pod) { p.OwnerReferences = nil }), "it has no controller that would create it again"},
		{"one with an owner that is no controller", web(func(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }), "it has no controller that would create it again"},
		{"a DaemonSet's", web(owned("DaemonSet")), "a DaemonSet's pod would return to the same node"},
		{"a Job's", web(owned("Job")), "its Job would start over"},
		{"one that cluster-autoscaler must not move", web(annotated(SafeToEvict, "false")), "its annotation cluster-autoscaler.kubernetes.io/safe-to-evict is false"},
		{"one that Karpenter must not move", web(annotated(DoNotDisrupt, "true")), "its annotation karpenter.sh/do-not-disrupt is true"},
		{"a critical one", web(func(p *corev1.Pod) { p.Spec.Priority = new(int32(2_000_000_000)) }), "the cluster needs it: its priority is critical"},
		{"one just below that", web(func(p *corev1.Pod) { p.Spec.Priority = new(int32(1_999_999_999)) }), ""},
		{"a directory of the node", web(volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}})), "its volume data is on its node (hostPath)"},
		{"a directory of the node, although it may be evicted", web(annotated(SafeToEvict, "true"), volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}})), "its volume data is on its node (hostPath)"},
		{"an emptyDir", web(emptyDir), "its volume data would be lost (emptyDir), and its annotation cluster-autoscaler.kubernetes.io/safe-to-evict is not true"},
		{"an emptyDir that may be lost", web(emptyDir, annotated(SafeToEvict, "true")), ""},
		{"a generic ephemeral volume", web(ephemeral), "its ephemeral volume data would be lost, and its annotation cluster-autoscaler.kubernetes.io/safe-to-evict is not true"},
		{"an inline CSI volume", web(inline), "its ephemeral volume data would be lost, and its annotation cluster-autoscaler.kubernetes.io/safe-to-evict is not true"},
		{"a local disk", web(claimed("local")), "its volume data is on its node (a local PersistentVolume)"},
		{"a claim without a volume", web(claimed("new")), "it is not known where its volume data can be used"},
		{"an unknown claim", web(claimed("other")), "it is not known where its volume data can be used"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Protected(tc.pod, claims); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestClaim(t *testing.T) {
	bound := corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}
	csi := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk"}}}}
	old := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{}}}}
	for _, tc := range []struct {
		name   string
		claim  *corev1.PersistentVolumeClaim
		volume *corev1.PersistentVolume
		bound  bool
	}{
		{"with a disk", &corev1.PersistentVolumeClaim{Status: bound}, csi, true},
		{"without a volume", &corev1.PersistentVolumeClaim{Status: bound}, nil, false},
		{"pending", &corev1.PersistentVolumeClaim{}, csi, false},
		{"being deleted, which only the pod prevents", &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}, Status: bound}, csi, false},
		{"with a disk that a driver attaches that it does not name", &corev1.PersistentVolumeClaim{Status: bound}, old, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := NewClaim(tc.claim, tc.volume).Bound; got != tc.bound {
				t.Errorf("bound %t, want %t", got, tc.bound)
			}
		})
	}
}

func TestUnjudged(t *testing.T) {
	selecting := &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"a plain pod", web(), ""},
		{"the default scheduler by name", web(func(p *corev1.Pod) { p.Spec.SchedulerName = "default-scheduler" }), ""},
		{"another scheduler", web(func(p *corev1.Pod) { p.Spec.SchedulerName = "volcano" }), "its scheduler is volcano"},
		{"devices", web(func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} }), "it uses resource claims"},
		{"a volume that is created with it", web(volume(corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}})), "it is not known where its ephemeral volume data can be created"},
		{"a node that its author chose", web(func(p *corev1.Pod) {
			p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:nodeName":{}}}`)}}
		}), "its author chose its node"},
		{"namespaces by their labels", web(apart(corev1.PodAffinityTerm{TopologyKey: zone, NamespaceSelector: selecting})), "its affinity selects namespaces by their labels"},
		{"all namespaces", web(apart(corev1.PodAffinityTerm{TopologyKey: zone, NamespaceSelector: &metav1.LabelSelector{}})), ""},
		{"keys of labels", web(together(corev1.PodAffinityTerm{TopologyKey: zone, MatchLabelKeys: []string{"version"}})), "its affinity has matchLabelKeys"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Unjudged(tc.pod); !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func apart(terms ...corev1.PodAffinityTerm) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

func together(terms ...corev1.PodAffinityTerm) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
}

func of(app string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func labeled(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Labels = map[string]string{"app": "web", key: value}
	}
}

func inBank(p *corev1.Pod) { p.Namespace = "bank" }

func port(ip string, protocol corev1.Protocol) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, HostIP: ip, Protocol: protocol}}
	}
}

func spreading(key string, skew int32, change ...func(*corev1.TopologySpreadConstraint)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		c := corev1.TopologySpreadConstraint{MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: of("web")}
		for _, f := range change {
			f(&c)
		}
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, c)
	}
}

// TestFits has nodes a-1 (that of the pod), a-2, b-1 and b-2, of which each case changes some.
func TestFits(t *testing.T) {
	repelled := corev1.PodAffinityTerm{LabelSelector: of("web"), TopologyKey: hostname}
	disk := func(name string, shared bool, zones ...string) func(s *Scene) {
		return func(s *Scene) {
			claim := &corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
			if claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}; shared {
				claim.Spec.AccessModes[0] = corev1.ReadWriteMany
			}
			v := &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk"}}}}
			if len(zones) > 0 {
				v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{Key: zone, Operator: corev1.NodeSelectorOpIn, Values: zones}},
				}}}}
			}
			s.Claims[name] = NewClaim(claim, v)
		}
	}
	onNode := func(name string, change func(n *Node)) func(*Scene) {
		return func(s *Scene) {
			change(s.Nodes[slices.IndexFunc(s.Nodes, func(n *Node) bool { return n.Name == name })])
		}
	}
	runs := func(name string, pods ...Neighbor) func(*Scene) {
		return onNode(name, func(n *Node) { n.Pods = append(n.Pods, pods...) })
	}
	taint := func(name string, effect corev1.TaintEffect) func(*Scene) {
		return onNode(name, func(n *Node) { n.Spec.Taints = []corev1.Taint{{Key: "only", Value: "batch", Effect: effect}} })
	}
	condition := func(name string, c corev1.NodeConditionType, is corev1.ConditionStatus) func(*Scene) {
		return onNode(name, func(n *Node) { n.Status.Conditions = []corev1.NodeCondition{{Type: c, Status: is}} })
	}
	both := together(corev1.PodAffinityTerm{LabelSelector: of("cache"), TopologyKey: zone}, corev1.PodAffinityTerm{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "data"}}, TopologyKey: hostname})
	tiered := func(p *corev1.Pod) { p.Labels["tier"] = "data" }
	honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	for _, tc := range []struct {
		name  string
		pod   *corev1.Pod
		scene []func(*Scene)
		want  string // The nodes, or why there are none.
	}{
		{"any other node", web(), nil, "a-2 b-1 b-2"},
		{"too little of a resource", web(), []func(*Scene){onNode("a-2", func(n *Node) { n.Requested = amounts("3500m", "4Gi") }), onNode("b-1", func(n *Node) { n.Requested = amounts("1", "15Gi") })}, "b-2"},
		{"exactly enough", web(), []func(*Scene){onNode("a-2", func(n *Node) { n.Requested = amounts("3", "14Gi") })}, "a-2 b-1 b-2"},
		{"nowhere", web(), []func(*Scene){func(s *Scene) {
			for _, n := range s.Nodes {
				n.Requested = amounts("3500m", "4Gi")
			}
		}}, "3 of 3 other nodes: too little cpu"},
		{"no other node", web(), []func(*Scene){func(s *Scene) { s.Nodes = s.Nodes[:1] }}, "there is no other node"},
		{"no room for pods", web(), []func(*Scene){onNode("a-2", func(n *Node) { n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("0") })}, "b-1 b-2"},
		{"cordoned", web(), []func(*Scene){onNode("a-2", func(n *Node) { n.Spec.Unschedulable = true })}, "b-1 b-2"},
		{"tainted", web(), []func(*Scene){taint("a-2", corev1.TaintEffectNoSchedule), taint("b-1", corev1.TaintEffectNoExecute), taint("b-2", corev1.TaintEffectPreferNoSchedule)}, "b-2"},
		{"a taint that it tolerates", web(func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Key: "only", Operator: corev1.TolerationOpExists}}
		}), []func(*Scene){taint("a-2", corev1.TaintEffectNoSchedule)}, "a-2 b-1 b-2"},
		{"not ready, and under pressure", web(), []func(*Scene){condition("a-2", corev1.NodeReady, corev1.ConditionUnknown), condition("b-1", corev1.NodeMemoryPressure, corev1.ConditionTrue)}, "b-2"},
		{"a node selector", web(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{zone: "b"} }), nil, "b-1 b-2"},
		{"a port of the node", web(port("", "")), []func(*Scene){
			runs("a-2", neighbor("x", port("", ""))), runs("b-1", neighbor("y", port("10.0.0.1", corev1.ProtocolTCP))), runs("b-2", neighbor("z", port("", corev1.ProtocolUDP))),
		}, "b-2"},
		{"ports of different addresses", web(port("10.0.0.2", "")), []func(*Scene){runs("a-2", neighbor("x", port("10.0.0.1", "")))}, "a-2 b-1 b-2"},
		{"a disk of a zone", web(claimed("disk")), []func(*Scene){disk("disk", false, "b")}, "b-1 b-2"},
		{"a disk whose labels name zones", web(claimed("disk")), []func(*Scene){func(s *Scene) {
			claim := &corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}
			s.Claims["disk"] = NewClaim(claim, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{zone: "b__c"}}})
		}}, "b-1 b-2"},
		{"a node without the driver of a disk", web(claimed("disk")), []func(*Scene){disk("disk", false), onNode("a-2", func(n *Node) {
			n.Limit(&storagev1.CSINode{Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "files"}}}})
		}), onNode("b-1", func(n *Node) {
			n.Limit(&storagev1.CSINode{Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "disk"}}}})
		})}, "b-1 b-2"},
		{"a disk that another pod uses on its node", web(claimed("disk")), []func(*Scene){disk("disk", false), runs("b-2", neighbor("x", claimed("disk")))}, "b-2"},
		{"a shared disk", web(claimed("disk")), []func(*Scene){disk("disk", true), runs("b-2", neighbor("x", claimed("disk")))}, "a-2 b-1 b-2"},
		{"a claim of another namespace with the same name", web(claimed("disk")), []func(*Scene){disk("disk", false), runs("b-2", neighbor("x", inBank, claimed("disk")))}, "a-2 b-1 b-2"},
		{"a node with all disks that it can attach", web(claimed("disk")), []func(*Scene){disk("disk", false), onNode("a-2", func(n *Node) {
			n.Limits, n.Attached = map[string]int{"disk": 3}, 3
		}), onNode("b-1", func(n *Node) { n.Limits, n.Attached = map[string]int{"disk": 3}, 2 })}, "b-1 b-2"},
		{"a node that may be able to attach no disk", web(claimed("disk")), []func(*Scene){disk("disk", false), onNode("a-2", func(n *Node) { n.Limits = nil })}, "b-1 b-2"},
		{"an unknown claim", web(claimed("disk")), nil, "3 of 3 other nodes: it is not known where the volumes of the pod can be used"},
		{"apart from its own kind", web(apart(repelled)), []func(*Scene){runs("a-2", neighbor("web-2")), runs("b-1", neighbor("x", labeled("app", "x"))), runs("b-2", neighbor("y", inBank))}, "b-1 b-2"},
		{"apart by zone", web(apart(corev1.PodAffinityTerm{LabelSelector: of("web"), TopologyKey: zone})), []func(*Scene){runs("b-1", neighbor("web-2"))}, "a-2"},
		{"apart from all namespaces", web(apart(corev1.PodAffinityTerm{LabelSelector: of("web"), TopologyKey: hostname, NamespaceSelector: &metav1.LabelSelector{}})), []func(*Scene){runs("b-2", neighbor("y", inBank))}, "a-2 b-1"},
		{"apart from a namespace", web(apart(corev1.PodAffinityTerm{LabelSelector: of("web"), TopologyKey: hostname, Namespaces: []string{"bank"}})), []func(*Scene){runs("b-2", neighbor("y", inBank)), runs("a-2", neighbor("web-2"))}, "a-2 b-1"},
		{"a pod there keeps it away", web(), []func(*Scene){runs("a-2", neighbor("db", labeled("app", "db"), apart(repelled))), runs("b-1", neighbor("x", inBank, apart(repelled)))}, "b-1 b-2"},
		{"a pod there keeps its zone", web(), []func(*Scene){runs("b-1", neighbor("db", apart(corev1.PodAffinityTerm{LabelSelector: of("web"), TopologyKey: zone})))}, "a-2"},
		{"a pod there keeps away namespaces that are not known", web(), []func(*Scene){runs("a-2", neighbor("x", inBank, apart(corev1.PodAffinityTerm{LabelSelector: of("web"), TopologyKey: hostname, NamespaceSelector: of("web")})))}, "b-1 b-2"},
		{"its own anti-affinity does not count against itself", web(apart(repelled)), []func(*Scene){runs("a-1", neighbor("web-1", apart(corev1.PodAffinityTerm{LabelSelector: of("web"), TopologyKey: zone})))}, "a-2 b-1 b-2"},
		{"near a cache", web(together(corev1.PodAffinityTerm{LabelSelector: of("cache"), TopologyKey: zone})), []func(*Scene){runs("b-2", neighbor("cache", labeled("app", "cache")))}, "b-1 b-2"},
		{"near nothing", web(together(corev1.PodAffinityTerm{LabelSelector: of("cache"), TopologyKey: zone})), nil, "3 of 3 other nodes: no pod is near that the pod's affinity requires"},
		{"near a pod that is both", web(both), []func(*Scene){runs("b-2", neighbor("cache", labeled("app", "cache"), tiered)), runs("a-2", neighbor("other", labeled("app", "cache")))}, "b-2"},
		{"near two pods that are one of both each", web(both), []func(*Scene){runs("b-1", neighbor("cache", labeled("app", "cache"))), runs("b-2", neighbor("db", labeled("app", "db"), tiered))}, "3 of 3 other nodes: no pod is near that the pod's affinity requires"},
		{"spread by zone", web(spreading(zone, 1)), []func(*Scene){runs("a-1", neighbor("web-1"), neighbor("web-2")), runs("a-2", neighbor("web-3")), runs("b-1", neighbor("web-4"))}, "b-1 b-2"},
		{"spread by zone with more skew", web(spreading(zone, 2)), []func(*Scene){runs("a-1", neighbor("web-1"), neighbor("web-2")), runs("a-2", neighbor("web-3")), runs("b-1", neighbor("web-4"))}, "a-2 b-1 b-2"},
		{"spread by node", web(spreading(hostname, 1)), []func(*Scene){runs("a-1", neighbor("web-1"), neighbor("web-5")), runs("a-2", neighbor("web-2")), runs("b-1", neighbor("web-3"))}, "b-2"},
		{"spread, but others do not count", web(spreading(hostname, 1)), []func(*Scene){runs("a-2", neighbor("x", labeled("app", "x")), neighbor("y", inBank), neighbor("z", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }))}, "a-2 b-1 b-2"},
		{"spread per version", web(spreading(hostname, 1, func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = []string{"pod-template-hash"} })), []func(*Scene){runs("a-2", neighbor("old", labeled("pod-template-hash", "old"))), runs("b-1", neighbor("web-2"))}, "a-2 b-2"},
		{"spread over more domains than there are", web(spreading(zone, 1, func(c *corev1.TopologySpreadConstraint) { c.MinDomains = new(int32(3)) })), []func(*Scene){runs("a-1", neighbor("web-1"), neighbor("web-2")), runs("b-1", neighbor("web-3"))}, "3 of 3 other nodes: it would have too many pods for a topology spread constraint of the pod"},
		{"spread only where it may run", web(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{zone: "b"} }, spreading(hostname, 1)), []func(*Scene){runs("b-1", neighbor("web-2")), runs("b-2", neighbor("web-3"))}, "b-1 b-2"},
		{"spread everywhere", web(func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{zone: "b"} }, spreading(hostname, 1, func(c *corev1.TopologySpreadConstraint) { c.NodeAffinityPolicy = &ignore })), []func(*Scene){runs("b-1", neighbor("web-2")), runs("b-2", neighbor("web-3"))}, "2 of 3 other nodes: it would have too many pods for a topology spread constraint of the pod"},
		{"spread without tainted nodes", web(spreading(hostname, 1, func(c *corev1.TopologySpreadConstraint) { c.NodeTaintsPolicy = &honor })), []func(*Scene){taint("b-2", corev1.TaintEffectNoSchedule), runs("a-1", neighbor("web-4")), runs("a-2", neighbor("web-2")), runs("b-1", neighbor("web-3"))}, "a-2 b-1"},
		{"spread by a label that a node does not have", web(spreading("rack", 1)), []func(*Scene){onNode("a-2", func(n *Node) { n.Labels["rack"] = "1" })}, "a-2"},
		{"spread if possible", web(spreading(hostname, 1, func(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway })), []func(*Scene){runs("a-2", neighbor("web-2"), neighbor("web-3"))}, "a-2 b-1 b-2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &Scene{Nodes: []*Node{machine("a-1"), machine("a-2"), machine("b-1"), machine("b-2")}, Claims: map[string]*Claim{}}
			for _, change := range tc.scene {
				change(s)
			}
			fits, why := s.Fits(tc.pod, amounts("1", "2Gi"))
			if got := strings.Join(fits, " "); got+why != tc.want || (got == "") == (why == "") {
				t.Errorf("fits %q, %q, want %q", got, why, tc.want)
			}
		})
	}
}

// TestSameAnswer checks that why a pod fits nowhere does not depend on the order of a map.
func TestSameAnswer(t *testing.T) {
	s := &Scene{Nodes: []*Node{machine("a-1")}}
	for i := range 40 {
		n := machine(fmt.Sprintf("b-%d", i))
		if i%2 == 0 {
			n.Spec.Unschedulable = true
		} else {
			n.Requested = amounts("4", "1Gi")
		}
		s.Nodes = append(s.Nodes, n)
	}
	for range 100 {
		if _, why := s.Fits(web(), amounts("1", "1Gi")); why != "20 of 40 other nodes: it is cordoned" {
			t.Fatal(why)
		}
	}
}
