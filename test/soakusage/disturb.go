package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// disturb disturbs the servers in all ways, one after the other.
func (s *soak) disturb(ctx context.Context) error {
	s.begin("nothing")
	if err := sleep(ctx, 15*time.Second); err != nil {
		return err
	}
	s.begin("a workload is deleted")
	deleted := time.Now()
	if err := s.client.AppsV1().Deployments(namespace).Delete(ctx, gone, metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := sleep(ctx, 15*time.Second); err != nil {
		return err
	}
	for _, do := range []func(context.Context) error{s.rollout, s.metricsServer, s.apiServer, s.leaders, s.checkpoint} {
		if err := do(ctx); err != nil {
			return err
		}
	}
	if left := time.Until(deleted.Add(s.gone)); left > often {
		s.begin("a deleted workload stays away")
		if err := sleep(ctx, left); err != nil {
			return err
		}
	}
	s.begin("it is created again")
	s.note("after %v", time.Since(deleted).Round(time.Second))
	for i := range workloads {
		if workloads[i].name == gone {
			if err := localcluster.Apply(ctx, s.cluster.Config(), []byte(workloads[i].manifest())); err != nil {
				return err
			}
		}
	}
	if err := s.ready(ctx, gone); err != nil {
		return err
	}
	return sleep(ctx, 90*time.Second) // Until its usage counts and is published.
}

// rollout replaces the pods of a workload.
func (s *soak) rollout(ctx context.Context) error {
	s.begin("a rollout")
	patch := `{"spec": {"template": {"metadata": {"annotations": {"rollout": "1"}}}}}`
	if _, err := s.client.AppsV1().Deployments(namespace).Patch(ctx, rolled, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		return err
	}
	if err := s.ready(ctx, rolled); err != nil {
		return err
	}
	return sleep(ctx, 90*time.Second)
}

// metricsServer stops metrics-server for a while.
func (s *soak) metricsServer(ctx context.Context) error {
	s.begin("metrics-server is down")
	if err := s.cluster.Stop(ctx, "metrics-server"); err != nil {
		return err
	}
	if err := sleep(ctx, s.metricsDown); err != nil {
		return err
	}
	leader, err := s.leader(ctx)
	if err != nil {
		return err
	}
	status, err := leader.usageStatus(ctx)
	if err != nil {
		return err
	}
	failing := false
	for _, source := range status.GetSources() {
		failing = failing || source.GetMessage() != ""
	}
	if !failing {
		s.fault("metrics-server is down, but no source is reported to fail: %v", status)
	}
	s.note("the source is reported to fail: %t", failing)
	if err := s.cluster.Start(ctx, "metrics-server"); err != nil {
		return err
	}
	s.begin("metrics-server is back")
	if _, err := s.collecting(ctx); err != nil {
		return err
	}
	return sleep(ctx, time.Minute)
}

// apiServer stops the API server for a while.
func (s *soak) apiServer(ctx context.Context) error {
	s.begin("the API server is down")
	if err := s.cluster.Stop(ctx, "kube-apiserver"); err != nil {
		return err
	}
	if err := sleep(ctx, s.apiDown); err != nil {
		return err
	}
	if err := s.cluster.Start(ctx, "kube-apiserver"); err != nil {
		return err
	}
	s.begin("the API server is back")
	_, err := s.collecting(ctx)
	return err
}

// leaders kills the leader several times.
func (s *soak) leaders(ctx context.Context) error {
	s.begin("leaders are killed")
	slowest := time.Duration(0)
	for range s.kills {
		if err := sleep(ctx, s.killEvery); err != nil {
			return err
		}
		leader, err := s.leader(ctx)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := leader.kill(); err != nil {
			return err
		}
		if _, err := s.collecting(ctx); err != nil {
			return err
		}
		slowest = max(slowest, time.Since(began))
	}
	s.note("%d times, collecting again after at most %v", s.kills, slowest.Round(time.Second))
	return nil
}

// checkpoint writes half of a stored history in its place, and kills the leader.
func (s *soak) checkpoint(ctx context.Context) error {
	s.beginWith("a half-written checkpoint", unreadable)
	maps := s.client.CoreV1().ConfigMaps(deploy.Namespace)
	const name, second, key = "workload-resizer-usage-0", "workload-resizer-usage-0-2", "usage"
	cm, err := maps.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	cm.BinaryData[key] = cm.BinaryData[key][:len(cm.BinaryData[key])/2]
	damaged, err := maps.Update(ctx, cm, metav1.UpdateOptions{})
	if err != nil {
		return err
	}
	leader, err := s.leader(ctx)
	if err != nil {
		return err
	}
	if err := leader.kill(); err != nil {
		return err
	}
	if leader, err = s.collecting(ctx); err != nil {
		return err
	}
	if err := patiently(ctx, "the history in a second ConfigMap", func() error {
		cm, err := maps.Get(ctx, second, metav1.GetOptions{})
		if err == nil && len(cm.BinaryData[key]) < len(damaged.BinaryData[key]) {
			err = fmt.Errorf("%d bytes", len(cm.BinaryData[key]))
		}
		return err
	}); err != nil {
		return err
	}
	if err := s.reported(ctx, leader, name); err != nil {
		return err
	}
	if err := s.known(ctx); err != nil {
		return err
	}
	s.begin("the checkpoint stays damaged, and the leader is killed")
	if err := leader.kill(); err != nil {
		return err
	}
	if leader, err = s.collecting(ctx); err != nil {
		return err
	}
	if err := s.reported(ctx, leader, name); err != nil {
		return err
	}
	return s.untouched(ctx, damaged)
}

// known waits until both replicas show all recommendations.
func (s *soak) known(ctx context.Context) error {
	began := time.Now()
	if err := patiently(ctx, "the recommendations of both replicas", func() error {
		for _, r := range s.replicas {
			for i := range workloads {
				if a := r.ask(ctx, &workloads[i]); a == nil || a.size == nil {
					return fmt.Errorf("none of %s", workloads[i].name)
				}
			}
		}
		return nil
	}); err != nil {
		return err
	}
	s.note("known to both replicas %v after that", time.Since(began).Round(time.Second))
	return nil
}

// reported checks that a replica reports that a ConfigMap cannot be read.
func (s *soak) reported(ctx context.Context, r *replica, name string) error {
	status, err := r.usageStatus(ctx)
	if err != nil {
		return err
	}
	for _, shard := range status.GetStorage().GetShards() {
		if shard.GetName() == name && shard.GetMessage() != "" {
			s.note("reported")
			return nil
		}
	}
	s.fault("the damaged ConfigMap %s is not reported: %v", name, status.GetStorage())
	return nil
}

// untouched checks that nobody has written a ConfigMap since.
func (s *soak) untouched(ctx context.Context, damaged *corev1.ConfigMap) error {
	now, err := s.client.CoreV1().ConfigMaps(damaged.Namespace).Get(ctx, damaged.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if now.ResourceVersion != damaged.ResourceVersion || !bytes.Equal(now.BinaryData["usage"], damaged.BinaryData["usage"]) {
		s.fault("the damaged ConfigMap %s was written", damaged.Name)
		return nil
	}
	s.note("set aside and not overwritten")
	return nil
}
