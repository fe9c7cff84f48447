package main_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

func TestFill(t *testing.T) {
	t.Parallel()
	const copies = 50
	dir := newDir(t)
	client := up(t, dir)
	mustRun(t, "stop", "--dir", dir, "kube-controller-manager")
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "many"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	no := false
	if _, err := client.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"pod-template-hash": "x"}},
		Spec:       corev1.PodSpec{NodeName: "n4-0", AutomountServiceAccountToken: &no, Containers: []corev1.Container{{Name: "app", Image: "none"}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pods := client.CoreV1().Pods("many")
	events, err := pods.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	seen := func(kind watch.EventType, count int) {
		t.Helper()
		for i := range count {
			select {
			case event := <-events.ResultChan():
				if event.Type != kind {
					t.Fatalf("event %d is %s, want %s", i, event.Type, kind)
				}
			case <-time.After(time.Minute):
				t.Fatalf("a watch shows %d of %d pods %s", i, count, kind)
			}
		}
	}
	list := func(count int) []corev1.Pod {
		t.Helper()
		all, err := pods.List(t.Context(), metav1.ListOptions{})
		if err != nil || len(all.Items) != count {
			t.Fatalf("a list shows %d pods, want %d: %v", len(all.Items), count, err)
		}
		return all.Items
	}

	fill := func(count int) {
		mustRun(t, "fill", "--dir", dir, "--namespace", "many", "--copies", fmt.Sprint(count), "--template", "default/web", "--nodes", "3", "--per-workload", "10")
	}
	fill(copies)
	seen(watch.Added, copies)
	uids, nodes, workloads := map[types.UID]bool{}, map[string]int{}, map[string]int{}
	for _, pod := range list(copies) {
		uids[pod.UID] = true
		nodes[pod.Spec.NodeName]++
		workloads[pod.Labels["pod-template-hash"]]++
	}
	if len(uids) != copies || len(nodes) != 3 || nodes["n4-2"] == 0 || len(workloads) != 5 {
		t.Errorf("the copies have %d uids, nodes %v, workloads %v", len(uids), nodes, workloads)
	}

	if _, err := pods.Patch(t.Context(), "web-7", types.MergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`), metav1.PatchOptions{}); err != nil {
		t.Errorf("patch a copy: %v", err)
	}
	seen(watch.Modified, 1)
	fill(copies - 20)
	seen(watch.Deleted, 20)
	list(copies - 20)
	fill(copies)
	seen(watch.Added, 20)
	if again := runCommand(t, "fill", "--dir", dir, "--namespace", "many", "--copies", "1"); again.exitCode != 1 {
		t.Error("fill accepts --copies without --template")
	}
}
