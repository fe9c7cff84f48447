package localcluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	// containerProgram is the image's entrypoint.
	containerProgram = "/workload-resizer"
	// volumePeriod is how often volumes are updated, as by a kubelet.
	volumePeriod = time.Minute
)

// Container is the runtime environment of a Deployment's container: a root directory with the
// program and the volumes, the arguments, the environment and the user, as the API server
// defines them. The network is this machine's.
//
// It has no /proc, so a server has no process_* metrics.
type Container struct {
	// Args are the container's arguments.
	Args []string

	root        string
	env         []string
	user, group uint32
	stop        context.CancelFunc
	stopped     chan struct{}
}

// NewContainer creates the environment for the only container of a Deployment's pods. The API
// server fills in the pod's defaults, but does not store the pod. Until Close, the volumes
// follow changes in the cluster, including new tokens.
func NewContainer(ctx context.Context, cfg *rest.Config, namespace, deployment string) (_ *Container, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("create a container of Deployment %s/%s: %w", namespace, deployment, err)
		}
	}()
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	pod, err := podOf(ctx, client, namespace, deployment)
	if err != nil {
		return nil, err
	}
	spec := &pod.Spec.Containers[0]
	if security := pod.Spec.SecurityContext; security == nil || security.RunAsUser == nil || security.RunAsGroup == nil {
		return nil, errors.New("the pod does not set runAsUser and runAsGroup")
	}
	c := &Container{
		Args: spec.Args,
		user: uint32(*pod.Spec.SecurityContext.RunAsUser), group: uint32(*pod.Spec.SecurityContext.RunAsGroup),
	}
	if c.env, err = environment(cfg, spec); err != nil {
		return nil, err
	}
	if c.root, err = newRoot(); err != nil {
		return nil, err
	}
	mounted := volumes{client: client, pod: pod, root: c.root, owner: -1}
	if os.Geteuid() == 0 {
		mounted.owner = int(c.user)
	}
	if err := mounted.write(ctx, spec); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.root))
	}
	ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	c.stopped = make(chan struct{})
	go c.renew(ctx, func() error { return mounted.write(ctx, spec) })
	return c, nil
}

// podOf returns a pod of a Deployment as the API server would store it.
func podOf(ctx context.Context, client kubernetes.Interface, namespace, deployment string) (*corev1.Pod, error) {
	d, err := client.AppsV1().Deployments(namespace).Get(ctx, deployment, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy(), Spec: d.Spec.Template.Spec}
	pod.GenerateName = d.Name + "-"
	if len(pod.Spec.Containers) != 1 {
		return nil, fmt.Errorf("the pod template has %d containers, want 1", len(pod.Spec.Containers))
	}
	return client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}

// newRoot creates a root directory with the files of the image and of every container.
func newRoot() (string, error) {
	program, err := Binary("workload-resizer")
	if err != nil {
		return "", err
	}
	if err := checkStatic(program); err != nil {
		return "", err
	}
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return "", err
	}
	root, err := os.MkdirTemp("", "container-")
	if err != nil {
		return "", err
	}
	// Another user needs access to it.
	err = os.Chmod(root, 0o755)
	if err == nil {
		err = os.MkdirAll(filepath.Join(root, "etc"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "etc", "hosts"), []byte("127.0.0.1 localhost\n"), 0o644)
	}
	if err == nil {
		err = linkOrCopy(program, filepath.Join(root, containerProgram))
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(root))
	}
	return root, nil
}

// environment returns the environment of a container. KUBERNETES_SERVICE_HOST and
// KUBERNETES_SERVICE_PORT point to the API server of cfg.
func environment(cfg *rest.Config, container *corev1.Container) ([]string, error) {
	server, err := url.Parse(cfg.Host)
	if err != nil {
		return nil, err
	}
	env := []string{"KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port()}
	for _, variable := range container.Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil {
			if from.ResourceFieldRef == nil || from.ResourceFieldRef.Resource != "limits.memory" {
				return nil, fmt.Errorf("environment variable %s has an unsupported source", variable.Name)
			}
			value = strconv.FormatInt(container.Resources.Limits.Memory().Value(), 10)
		}
		env = append(env, variable.Name+"="+value)
	}
	return env, nil
}

// renew updates the volumes periodically. A failure, e.g. while the API server is unavailable,
// is ignored until the next update: tokens are valid for longer than a period.
func (c *Container) renew(ctx context.Context, write func() error) {
	defer close(c.stopped)
	tick := time.NewTicker(volumePeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = write()
		}
	}
}

// Close removes the container's files. The container's program must have ended.
func (c *Container) Close() error {
	c.stop()
	<-c.stopped
	return os.RemoveAll(c.root)
}

// command returns a command that runs the program with the container's arguments and more. It
// only replaces the ports in addresses, since several containers share this machine's ports.
func (c *Container) command(grpcAddress, httpAddress string, more []string) (*exec.Cmd, error) {
	args := slices.Clone(c.Args)
	for flag, address := range map[string]string{"--grpc-bind-address": grpcAddress, "--http-bind-address": httpAddress} {
		i := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, flag+"=") })
		if i < 0 {
			return nil, fmt.Errorf("the Deployment does not set %s", flag)
		}
		host, _, err := net.SplitHostPort(strings.TrimPrefix(args[i], flag+"="))
		if err != nil {
			return nil, err
		}
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		args[i] = flag + "=" + net.JoinHostPort(host, port)
	}
	command := exec.Command(containerProgram, append(args, more...)...)
	command.Dir = "/"
	command.Env = c.env
	command.SysProcAttr = &syscall.SysProcAttr{Chroot: c.root}
	if os.Geteuid() == 0 {
		command.SysProcAttr.Credential = &syscall.Credential{Uid: c.user, Gid: c.group}
		return command, nil
	}
	// Users other than root may change the root directory only in a new user namespace.
	command.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: int(c.user), HostID: os.Getuid(), Size: 1}}
	command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: int(c.group), HostID: os.Getgid(), Size: 1}}
	return command, nil
}
