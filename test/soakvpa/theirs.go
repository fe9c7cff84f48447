package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// halfLife is the half-life of both recommenders, and the length of their windows of memory. Eight
// windows are kept.
const halfLife = 2 * time.Minute

// often is how often both recommenders look. metrics-server measures every 10 seconds, so that both
// see each measurement.
const often = 5 * time.Second

// startTheirs starts the VPA's recommender. It ends with the context.
func startTheirs(ctx context.Context, kubeconfig, log string) (ended <-chan error, err error) {
	program, err := localcluster.Binary("vpa-recommender")
	if err != nil {
		return nil, err
	}
	address, err := localcluster.FreeAddress("")
	if err != nil {
		return nil, err
	}
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, program,
		"--kubeconfig", kubeconfig, "--address", address,
		"--recommender-interval", often.String(),
		"--memory-aggregation-interval", halfLife.String(), "--memory-aggregation-interval-count", "8",
		"--memory-histogram-decay-half-life", halfLife.String(), "--cpu-histogram-decay-half-life", halfLife.String(),
		// The floors would hide differences.
		"--pod-recommendation-min-cpu-millicores", "1", "--pod-recommendation-min-memory-mb", "1",
		"--kube-api-qps", "100", "--kube-api-burst", "200",
	)
	command.Stdout, command.Stderr = io.Writer(file), file
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the VPA's recommender: %w", err)
	}
	done := make(chan error, 1)
	go func() {
		err := command.Wait()
		_ = file.Close()
		done <- fmt.Errorf("the VPA's recommender ended: %w; its log is %s", err, filepath.Clean(log))
	}()
	return done, nil
}

// theirTargets returns the targets in the status of all VPAs, by the name of the workload.
func theirTargets(ctx context.Context, client dynamic.Interface) (map[string]recommend.Amounts, error) {
	list, err := client.Resource(vpas).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list VPAs: %w", err)
	}
	targets := map[string]recommend.Amounts{}
	for i := range list.Items {
		containers, _, err := unstructured.NestedSlice(list.Items[i].Object, "status", "recommendation", "containerRecommendations")
		if err != nil {
			return nil, err
		}
		for _, c := range containers {
			target, _, err := unstructured.NestedStringMap(c.(map[string]any), "target")
			if err != nil {
				return nil, err
			}
			cpu, err := resource.ParseQuantity(target["cpu"])
			if err != nil {
				return nil, fmt.Errorf("cpu of %s: %w", list.Items[i].GetName(), err)
			}
			memory, err := resource.ParseQuantity(target["memory"])
			if err != nil {
				return nil, fmt.Errorf("memory of %s: %w", list.Items[i].GetName(), err)
			}
			targets[list.Items[i].GetName()] = recommend.Amounts{CPU: cpu.MilliValue(), Memory: memory.Value()}
		}
	}
	return targets, nil
}

// theirSamples returns the number of samples of CPU in the VPA's checkpoints, by the name of the
// workload.
func theirSamples(ctx context.Context, client dynamic.Interface) (map[string]int, error) {
	list, err := client.Resource(checkpoints).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list checkpoints: %w", err)
	}
	samples := map[string]int{}
	for i := range list.Items {
		name, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "vpaObjectName")
		n, _, err := unstructured.NestedInt64(list.Items[i].Object, "status", "totalSamplesCount")
		if err != nil {
			return nil, err
		}
		samples[name] = int(n)
	}
	return samples, nil
}
