package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

const (
	// rawWorkers is the number of pods that the bare client writes at the same time.
	rawWorkers   = 32
	writeTimeout = 10 * time.Second
)

// newRawCommand returns the command that runs the bare client, which knows in advance
// what to write.
func newRawCommand() *cobra.Command {
	var kubeconfig string
	var follow, watching bool
	command := &cobra.Command{
		Use: "raw", Short: "Run the bare client", Hidden: true, Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			client, err := newRaw(kubeconfig)
			if err != nil {
				return err
			}
			if follow {
				return client.follow(command.Context())
			}
			return client.once(command.Context(), watching)
		},
	}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig file of the cluster")
	command.Flags().BoolVar(&follow, "follow", false, "write each pod when it starts running, until killed")
	command.Flags().BoolVar(&watching, "watch", false, "watch the pods while they are written, and discard the events")
	return command
}

// raw has two clients, like the server: writes have a timeout, which watches must not
// have.
type raw struct{ reads, writes kubernetes.Interface }

// newRaw returns a bare client with the server's transport and no rate limit.
func newRaw(kubeconfig string) (*raw, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	reads, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("set up the bare client: %w", err)
	}
	writes, err := kubernetes.NewForConfig(actuate.ClientConfig(config, writeTimeout))
	if err != nil {
		return nil, fmt.Errorf("set up the bare client: %w", err)
	}
	return &raw{reads, writes}, nil
}

// once writes all existing pods. It waits for a line on stdin before it begins and before
// it ends, and prints a line when it is ready and when it is done.
func (r *raw) once(ctx context.Context, watching bool) error {
	list, err := r.reads.CoreV1().Pods(filled).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list the pods: %w", err)
	}
	if watching {
		watch, err := r.watch(ctx, list)
		if err != nil {
			return err
		}
		go func() {
			for range watch.ResultChan() {
			}
		}()
	}
	pods := make(chan *corev1.Pod, len(list.Items))
	for i := range list.Items {
		pods <- &list.Items[i]
	}
	close(pods)
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	if _, err := in.ReadString('\n'); err != nil {
		return fmt.Errorf("wait for the signal to start: %w", err)
	}
	if err := r.work(ctx, pods); err != nil {
		return err
	}
	fmt.Println("done")
	if _, err := in.ReadString('\n'); err != nil {
		return fmt.Errorf("wait for the signal to end: %w", err)
	}
	return nil
}

// follow writes each pod as soon as a watch shows that it runs.
func (r *raw) follow(ctx context.Context) error {
	list, err := r.reads.CoreV1().Pods(filled).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return fmt.Errorf("list the pods: %w", err)
	}
	watch, err := r.watch(ctx, list)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	const room = 1000
	pods := make(chan *corev1.Pod, room)
	go func() {
		defer close(pods)
		for event := range watch.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if ok && pod.Status.Phase == corev1.PodRunning && pod.Annotations[contract.CPURequest.Key(pod.Spec.Containers[0].Name)] == "" {
				pods <- pod
			}
		}
	}()
	return r.work(ctx, pods)
}

// watch watches all pods that change after they were listed.
func (r *raw) watch(ctx context.Context, since *corev1.PodList) (watch.Interface, error) {
	w, err := r.reads.CoreV1().Pods(filled).Watch(ctx, metav1.ListOptions{ResourceVersion: since.ResourceVersion})
	if err != nil {
		return nil, fmt.Errorf("watch the pods: %w", err)
	}
	return w, nil
}

func (r *raw) work(ctx context.Context, pods <-chan *corev1.Pod) error {
	errs := make([]error, rawWorkers)
	var group sync.WaitGroup
	for i := range rawWorkers {
		group.Go(func() {
			for pod := range pods {
				if err := r.write(ctx, pod); err != nil {
					errs[i] = errors.Join(errs[i], err)
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// write sends the three patches of a pod back to back, and requests responses as short as
// the server does.
func (r *raw) write(ctx context.Context, pod *corev1.Pod) error {
	p := patchesOf(pod)
	version := pod.ResourceVersion
	for _, step := range []struct {
		body         patch
		subresources []string
	}{{p.originals, nil}, {p.resize, []string{"resize"}}, {p.applied, nil}} {
		step.body.Metadata.UID = pod.UID
		if step.body.Metadata.Annotations[contract.AppliedAt] == "" {
			step.body.Metadata.ResourceVersion = version
		}
		body, err := json.Marshal(step.body)
		if err != nil {
			return fmt.Errorf("encode a patch: %w", err)
		}
		written := &metav1.PartialObjectMetadata{}
		if err := r.writes.CoreV1().RESTClient().Patch(types.StrategicMergePatchType).
			Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource(step.subresources...).
			VersionedParams(&metav1.PatchOptions{FieldManager: contract.FieldManager}, scheme.ParameterCodec).
			SetHeader("Accept", actuate.AcceptMetadata).Body(body).Do(ctx).Into(written); err != nil {
			return fmt.Errorf("write pod %s: %w", pod.Name, err)
		}
		version = written.ResourceVersion
	}
	return nil
}
