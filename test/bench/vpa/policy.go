package main

import (
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"
	vpatypes "k8s.io/autoscaler/vertical-pod-autoscaler/pkg/apis/autoscaling.k8s.io/v1"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/logic"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/recommender/model"
	"k8s.io/autoscaler/vertical-pod-autoscaler/pkg/updater/priority"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage/backtest"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// vpa is a cluster with one VPA and one workload, in the VPA's own classes.
type vpa struct {
	cluster     model.ClusterState
	vpa         *model.Vpa
	recommender logic.PodResourceRecommender
	policy      *vpaPolicy
	pods        []model.PodID
}

// vpaPolicy is the VPA as a policy.
type vpaPolicy struct {
	label  string
	config logic.RecommendationConfig
	limits need.Limits
}

// defaultConfig has the defaults of the flags of the VPA's recommender.
func defaultConfig() logic.RecommendationConfig {
	return logic.RecommendationConfig{
		SafetyMarginFraction: 0.15, PodMinCPUMillicores: 25, PodMinMemoryMb: 250,
		TargetCPUPercentile: 0.9, LowerBoundCPUPercentile: 0.5, UpperBoundCPUPercentile: 0.95,
		ConfidenceIntervalCPU: 24 * time.Hour, TargetMemoryPercentile: 0.9,
		LowerBoundMemoryPercentile: 0.5, UpperBoundMemoryPercentile: 0.95, ConfidenceIntervalMemory: 24 * time.Hour,
	}
}

// Name implements backtest.Policy.
func (p *vpaPolicy) Name() string { return p.label }

// Sizer implements backtest.Policy.
func (p *vpaPolicy) Sizer(given recommend.Authored, speeds []float64) backtest.Sizer {
	v := newVPA(p, len(speeds))
	return &vpaSizer{vpa: v, authored: given}
}

const namespace, container = "default", "main"

// newVPA returns a VPA that controls a workload of the given number of pods.
func newVPA(p *vpaPolicy, pods int) *vpa {
	v := &vpa{cluster: model.NewClusterState(time.Minute), recommender: logic.CreatePodResourceRecommender(p.config), policy: p}
	set := labels.Set{"app": "workload"}
	object := &vpatypes.VerticalPodAutoscaler{}
	object.Namespace, object.Name = namespace, "vpa"
	if err := v.cluster.AddOrUpdateVpa(object, labels.SelectorFromSet(set)); err != nil {
		panic(err)
	}
	v.vpa = v.cluster.VPAs()[model.VpaID{Namespace: namespace, VpaName: "vpa"}]
	for i := range pods {
		pod := model.PodID{Namespace: namespace, PodName: strconv.Itoa(i)}
		v.pods = append(v.pods, pod)
		v.cluster.AddOrUpdatePod(pod, set, corev1.PodRunning)
		if err := v.cluster.AddOrUpdateContainer(v.container(i), model.Resources{}); err != nil {
			panic(err)
		}
	}
	return v
}

func (v *vpa) container(pod int) model.ContainerID {
	return model.ContainerID{PodID: v.pods[pod], ContainerName: container}
}

// record counts a sample of one resource.
func (v *vpa) record(pod int, name model.ResourceName, at time.Time, usage int64) {
	// The VPA's feeder ignores errors of samples that it drops, too.
	_ = v.cluster.AddSample(&model.ContainerUsageSampleWithKey{
		Container:            v.container(pod),
		ContainerUsageSample: model.ContainerUsageSample{MeasureStart: at, Usage: model.ResourceAmount(usage), Resource: name},
	})
}

// recommend returns target and bounds.
func (v *vpa) recommend() (r logic.RecommendedContainerResources, ok bool) {
	states := v.vpa.AggregateStateByContainerName()
	if len(states) == 0 || states[container].TotalSamplesCount == 0 {
		return r, false
	}
	return v.recommender.GetRecommendedPodResources(states)[container], true
}

// vpaSizer is the VPA's recommender with the VPA's updater.
type vpaSizer struct {
	*vpa
	authored recommend.Authored
}

func (s *vpaSizer) Record(replica int, sample backtest.Sample) {
	s.record(replica, model.ResourceCPU, sample.At, sample.CPU)
	s.record(replica, model.ResourceMemory, sample.At, sample.Memory)
}

func (s *vpaSizer) Kill(replica int, k history.Kill) {
	_ = s.cluster.RecordOOM(s.container(replica), k.At, model.ResourceAmount(k.Request))
}

func (s *vpaSizer) Decide(_ int, p backtest.Pod, now time.Time) (request, limit recommend.Amounts, resize bool) {
	r, ok := s.recommend()
	if !ok {
		return request, limit, false
	}
	change := priority.NewProcessor().GetUpdatePriority(podOf(p), nil, &vpatypes.RecommendedPodResources{
		ContainerRecommendations: logic.MapToListOfRecommendedContainerResources(
			logic.RecommendedPodResources{container: r}, logic.RecommendationFormat{RoundCPUMillicores: 1, RoundMemoryBytes: 1}).ContainerRecommendations,
	})
	// The rest of the updater's rule is inseparable from its clock and its clients.
	quick := !p.Killed.IsZero() && p.Ran < 10*time.Minute && now.Sub(p.Killed) < 10*time.Minute
	last := p.ResizedCPU
	if p.ResizedMemory.After(last) {
		last = p.ResizedMemory
	}
	late := now.Sub(last) >= 12*time.Hour && change.ResourceDiff >= 0.1
	if change.ResourceDiff == 0 || !change.OutsideRecommendedRange && !quick && !late {
		return request, limit, false
	}
	request = recommend.Amounts{CPU: int64(r.Target[model.ResourceCPU]), Memory: int64(r.Target[model.ResourceMemory])}
	a, limits := s.authored, &s.policy.limits
	limit.CPU = limits.For(sizing.CPU, request.CPU, sizing.Amount{Request: a.Request.CPU, Limit: a.Limit.CPU}, a.Guaranteed)
	limit.Memory = limits.For(sizing.Memory, request.Memory, sizing.Amount{Request: a.Request.Memory, Limit: a.Limit.Memory}, a.Guaranteed)
	return request, limit, true
}

// podOf returns a pod with the requests.
func podOf(p backtest.Pod) *corev1.Pod {
	requests := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(p.Request.CPU, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(p.Request.Memory, resource.BinarySI),
	}
	pod := &corev1.Pod{}
	pod.Spec.Containers = []corev1.Container{{Name: container, Resources: corev1.ResourceRequirements{Requests: requests}}}
	return pod
}
