package main_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	costNodes = 6
	costPods  = 200
	// settling is how long a cluster may calm down before it is measured for measuring.
	settling  = 30 * time.Second
	measuring = time.Minute
)

// BenchmarkCost measures what a cluster of 6 nodes and 200 pods costs the machine, with idle
// pods, with working pods, and with working pods that are measured by metrics-server and
// Prometheus. It takes six minutes. Run it on an idle machine, with -benchtime 1x.
func BenchmarkCost(b *testing.B) {
	const busy = "{cpu: [{constant: 100m}, {wave: 100m, period: 10m}, {noise: 20}], memory: [{constant: 64Mi}, {wave: 64Mi, period: 1h}], ready: {share: 50}}"
	for _, kind := range []struct {
		name, work string
		flags      []string
	}{
		{"idle", "", nil},
		{"working", busy, nil},
		{"measured", busy, []string{"--metrics-server", program(b, "metrics-server"), "--prometheus", program(b, "prometheus")}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			for b.Loop() {
				cores, bytes := cost(b, kind.work, kind.flags)
				b.ReportMetric(cores, "cores")
				b.ReportMetric(bytes/(1<<20), "MiB")
			}
		})
	}
}

// cost returns the cores and the memory that all processes of a cluster use together.
func cost(b *testing.B, declaration string, flags []string) (cores, bytes float64) {
	b.Helper()
	dir := newDir(b)
	client := up(b, dir, append([]string{"--nodes", "n4=" + strconv.Itoa(costNodes), "--node-cpu", "16"}, flags...)...)
	defer mustRun(b, "down", "--dir", dir)
	template := newTemplate("many", resources("200m", "128Mi", "500m", "256Mi"))
	if declaration != "" {
		template.Annotations = map[string]string{"work.testcluster.local/main": declaration}
	}
	_, err := client.AppsV1().Deployments(namespace).Create(b.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "many"},
		Spec:       appsv1.DeploymentSpec{Replicas: new(int32(costPods)), Selector: selector("many"), Template: template},
	}, metav1.CreateOptions{})
	if err != nil {
		b.Fatal(err)
	}
	eventually(b, 2*time.Minute, func(ctx context.Context) error {
		many, err := client.AppsV1().Deployments(corev1.NamespaceDefault).Get(ctx, "many", metav1.GetOptions{})
		if err == nil && many.Status.ReadyReplicas != costPods {
			err = fmt.Errorf("%d pods are ready", many.Status.ReadyReplicas)
		}
		return err
	})
	<-time.After(settling)
	before, _ := consumed(b, dir)
	<-time.After(measuring)
	after, bytes := consumed(b, dir)
	return (after - before).Seconds() / measuring.Seconds(), bytes
}

// consumed returns the CPU time and the memory of all processes of a cluster. Memory that
// processes share is counted once.
func consumed(b *testing.B, dir string) (cpu time.Duration, bytes float64) {
	b.Helper()
	// The kernel reports times in this unit on every architecture.
	const clockTick = 10 * time.Millisecond
	for _, pid := range processesOf(b, dir) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			b.Fatal(err)
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		for _, field := range fields[11:13] {
			ticks, err := strconv.Atoi(field)
			if err != nil {
				b.Fatal(err)
			}
			cpu += time.Duration(ticks) * clockTick
		}
		bytes += proportionalMemory(b, pid)
	}
	return cpu, bytes
}

// proportionalMemory returns the memory of a process, and its part of the memory that it shares.
func proportionalMemory(b *testing.B, pid int) float64 {
	b.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); fields[0] == "Pss:" {
			kilobytes, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kilobytes * 1024
		}
	}
	b.Fatalf("process %d reports no memory", pid)
	return 0
}
