package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// stopGrace is how long a server may take to end after SIGTERM: longer than
	// it gives the writes it is at.
	stopGrace = 40 * time.Second
	// probeTimeout bounds one probe of a server.
	probeTimeout = 5 * time.Second
	// logTail is how much of its log an error about a server shows, in lines.
	logTail = 20
)

// ServerOptions say how to run a server. Kubeconfig or Container is required.
type ServerOptions struct {
	// Kubeconfig is the path of the kubeconfig that the server uses.
	Kubeconfig string
	// Container, if set, is what the server is started with instead.
	Container *Container
	// GRPCAddress and HTTPAddress are host:port to listen on; free ports of
	// loopback if empty.
	GRPCAddress, HTTPAddress string
	// Args are further flags of "workload-resizer serve", Env further variables as
	// NAME=VALUE.
	Args, Env []string
	// Log receives the log too; nil for none.
	Log io.Writer
}

// Server is a running bin/workload-resizer.
type Server struct {
	// GRPCAddress and HTTPAddress are host:port of the API and of the probes
	// and metrics.
	GRPCAddress, HTTPAddress string

	process *os.Process
	log     *tailBuffer
	// terminate asks the server to end, once: a second signal would end it in
	// the middle of what it is at.
	terminate func() error
	done      chan struct{}
	err       error
}

// StartServer starts a server and does not wait for it to be ready. It is asked
// to end when ctx is done, and dies with this process.
func StartServer(ctx context.Context, options ServerOptions) (*Server, error) {
	s := &Server{log: newTailBuffer(), done: make(chan struct{})}
	command, err := s.command(options)
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	started := make(chan error)
	go func() {
		s.err = runTied(command, started)
		close(s.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	s.process = command.Process
	s.terminate = sync.OnceValue(func() error { return ignoreEnded(s.process.Signal(syscall.SIGTERM)) })
	asked := context.AfterFunc(ctx, func() {
		// A process that cannot be signalled has ended.
		_ = s.terminate()
	})
	go func() {
		<-s.done
		asked()
	}()
	return s, nil
}

func (s *Server) command(options ServerOptions) (*exec.Cmd, error) {
	var err error
	for _, address := range []struct {
		given  string
		chosen *string
	}{{options.GRPCAddress, &s.GRPCAddress}, {options.HTTPAddress, &s.HTTPAddress}} {
		*address.chosen = address.given
		if address.given != "" {
			continue
		}
		if *address.chosen, err = FreeAddress(""); err != nil {
			return nil, err
		}
	}
	var command *exec.Cmd
	if options.Container != nil {
		command, err = options.Container.command(s.GRPCAddress, s.HTTPAddress, options.Args)
	} else {
		command, err = s.onThisMachine(options)
	}
	if err != nil {
		return nil, err
	}
	command.Env = append(command.Environ(), options.Env...)
	command.Stdout = s.log
	if options.Log != nil {
		command.Stdout = io.MultiWriter(s.log, options.Log)
	}
	command.Stderr = command.Stdout
	// Ctrl-C in a terminal is for this process, which ends the server in its turn.
	command.SysProcAttr.Setpgid = true
	command.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return command, nil
}

// onThisMachine runs a server as a person does who has a kubeconfig.
func (s *Server) onThisMachine(options ServerOptions) (*exec.Cmd, error) {
	binary, err := Binary("workload-resizer")
	if err != nil {
		return nil, err
	}
	command := exec.Command(binary, append([]string{
		"serve", "--kubeconfig", options.Kubeconfig,
		// The next server waits for one that was killed.
		"--leader-lease-duration", "3s", "--leader-renew-deadline", "2s", "--leader-retry-period", "1s",
		"--grpc-bind-address", s.GRPCAddress, "--http-bind-address", s.HTTPAddress,
	}, options.Args...)...)
	command.SysProcAttr = &syscall.SysProcAttr{}
	return command, nil
}

// PID is the server's process.
func (s *Server) PID() int { return s.process.Pid }

// Done is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// Log returns the log so far, of a very long one the end.
func (s *Server) Log() string { return s.log.String() }

// Stop asks the server to end and waits until it has. The error tells how it
// has ended if that was not in order.
func (s *Server) Stop() error {
	if err := s.terminate(); err != nil {
		return err
	}
	select {
	case <-s.done:
		return s.err
	case <-time.After(stopGrace):
		return errors.Join(fmt.Errorf("it still runs %v after SIGTERM and is killed", stopGrace), s.Kill())
	}
}

// Kill ends the server with SIGKILL and waits until it is gone.
func (s *Server) Kill() error {
	if err := ignoreEnded(s.process.Kill()); err != nil {
		return err
	}
	<-s.done
	return nil
}

func ignoreEnded(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// WaitReady returns once the server is ready. The error of one that does not
// become ready tells why, and shows the end of its log.
func (s *Server) WaitReady(ctx context.Context) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	answer := "it has not answered yet"
	for {
		if status, body, err := s.Readyz(ctx); err == nil && status == http.StatusOK {
			return nil
		} else if err == nil {
			answer = fmt.Sprintf("/readyz says %d: %s", status, body)
		}
		select {
		case <-s.done:
			return fmt.Errorf("wait for the server: it has ended: %w; the end of its log:\n%s", s.untimely(), Tail(s.Log(), logTail))
		case <-ctx.Done():
			return fmt.Errorf("wait for the server: %w: %s; the end of its log:\n%s", context.Cause(ctx), answer, Tail(s.Log(), logTail))
		case <-ticker.C:
		}
	}
}

// untimely makes a clean exit an error too.
func (s *Server) untimely() error {
	if s.err == nil {
		return errors.New("exit status 0")
	}
	return s.err
}

// Readyz returns what the server answers on /readyz.
func (s *Server) Readyz(ctx context.Context) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.HTTPAddress+"/readyz", nil)
	if err != nil {
		return 0, "", fmt.Errorf("ask /readyz: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", fmt.Errorf("ask /readyz: %w", err)
	}
	content, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return 0, "", fmt.Errorf("ask /readyz: %w", err)
	}
	return response.StatusCode, string(content), nil
}

// ServerForTest starts a server for a test, which fails if that does not
// succeed, and stops it when the test is over, which fails if that is not in
// order; the test may have ended it before. A panic in the log fails the test too,
// whether the server survived it or not. If the test has failed, it shows the end
// of the log.
func ServerForTest(tb testing.TB, options ServerOptions) *Server {
	tb.Helper()
	s, err := StartServer(context.Background(), options)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		select {
		case <-s.Done():
		default:
			if err := s.Stop(); err != nil {
				tb.Errorf("stop the server: %v", err)
			}
		}
		if line := panicLine(s.Log()); line != "" {
			tb.Errorf("the server has panicked: %s", line)
		}
		if tb.Failed() {
			tb.Logf("the test has failed, the end of the server's log:\n%s", Tail(s.Log(), 5*logTail))
		}
	})
	return s
}

// panicLine returns the first line of a log that tells of a panic, recovered or
// not, or "".
func panicLine(log string) string {
	for line := range strings.Lines(log) {
		if strings.Contains(strings.ToLower(line), "panic") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
