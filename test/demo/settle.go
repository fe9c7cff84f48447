package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// unsettledError lists what the demo has waited for too long.
type unsettledError struct{ waiting []string }

func (e *unsettledError) Error() string {
	return fmt.Sprintf("not settled after %v: %s", settleTimeout, strings.Join(e.waiting, ", "))
}

// settle returns the plans of the sample pods once all pods run and have their sizes. If that
// takes too long, it returns the current plans and an unsettledError.
func (d *demo) settle(ctx context.Context) ([]*workloadresizerv1.Plan, error) {
	ticker := time.NewTicker(250 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.Now().Add(settleTimeout)
	for {
		plans, waiting, err := d.unsettled(ctx)
		switch {
		case err == nil && len(waiting) == 0:
			return plans, nil
		case time.Now().After(deadline):
			return plans, errors.Join(err, &unsettledError{waiting})
		}
		// An error may be temporary: the user may have stopped a part of the cluster.
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// unsettled returns the plans of the sample pods, and what is not settled yet.
func (d *demo) unsettled(ctx context.Context) (plans []*workloadresizerv1.Plan, waiting []string, err error) {
	if waiting, err = d.incomplete(ctx); err != nil {
		return nil, nil, err
	}
	for plan, err := range d.api.PreviewPlans(ctx, deploy.SampleNamespace).All() {
		if err != nil {
			return nil, nil, fmt.Errorf("get the plans of the samples: %w", err)
		}
		plans = append(plans, plan)
	}
	pods := d.pods.samples()
	if len(pods) != len(plans) {
		waiting = append(waiting, fmt.Sprintf("%d pods, but the server knows %d", len(pods), len(plans)))
	}
	for _, plan := range plans {
		if pod, known := pods[plan.GetUid()]; !known || !pod.settled(plan) {
			waiting = append(waiting, "pod "+plan.GetPod())
		}
	}
	return plans, waiting, nil
}

// settled reports whether a pod needs no further change.
func (p *tracked) settled(plan *workloadresizerv1.Plan) bool {
	if plan.GetDecision() == workloadresizerv1.Decision_DECISION_SKIP {
		// The server may not know yet that the pod runs.
		return p.running && !hasReason(plan, contract.NotRunning) && !hasReason(plan, contract.NotScheduled)
	}
	return p.running && p.recorded && p.actuated && plan.GetDecision() == workloadresizerv1.Decision_DECISION_ALIGNED
}

func hasReason(plan *workloadresizerv1.Plan, wanted contract.Reason) bool {
	for _, reason := range plan.GetReasons() {
		if reason.GetCode() == string(wanted) {
			return true
		}
	}
	return false
}

// incomplete returns the sample workloads that do not have all their pods yet.
func (d *demo) incomplete(ctx context.Context) (waiting []string, err error) {
	everything := metav1.ListOptions{}
	check := func(kind, name string, ready, wanted int32) {
		if ready != wanted {
			waiting = append(waiting, fmt.Sprintf("%s %s (%d of %d pods)", kind, name, ready, wanted))
		}
	}
	apps := d.kubernetes.AppsV1()
	deployments, err := apps.Deployments(deploy.SampleNamespace).List(ctx, everything)
	if err != nil {
		return nil, err
	}
	for i := range deployments.Items {
		check("Deployment", deployments.Items[i].Name, deployments.Items[i].Status.ReadyReplicas, *deployments.Items[i].Spec.Replicas)
	}
	statefulSets, err := apps.StatefulSets(deploy.SampleNamespace).List(ctx, everything)
	if err != nil {
		return nil, err
	}
	for i := range statefulSets.Items {
		check("StatefulSet", statefulSets.Items[i].Name, statefulSets.Items[i].Status.ReadyReplicas, *statefulSets.Items[i].Spec.Replicas)
	}
	daemonSets, err := apps.DaemonSets(deploy.SampleNamespace).List(ctx, everything)
	if err != nil {
		return nil, err
	}
	for i := range daemonSets.Items {
		status := &daemonSets.Items[i].Status
		// The desired number is 0 until the controller has processed the DaemonSet.
		check("DaemonSet", daemonSets.Items[i].Name, status.NumberReady, max(status.DesiredNumberScheduled, 1))
	}
	jobs, err := d.kubernetes.BatchV1().Jobs(deploy.SampleNamespace).List(ctx, everything)
	if err != nil {
		return nil, err
	}
	for i := range jobs.Items {
		check("Job", jobs.Items[i].Name, jobs.Items[i].Status.Active, *jobs.Items[i].Spec.Parallelism)
	}
	return waiting, nil
}
