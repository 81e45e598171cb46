package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ingotmetal/ingot/cmd/internal/pin"
)

// How an image is fetched.
const (
	imageTries = 8                // in a row that bring no byte
	imageStall = 30 * time.Second // without a byte
)

// An image is read over HTTP from its start to its end, across connections that
// break. Whether its bytes are right is for its reader to say.
type image struct {
	ctx    context.Context
	client *http.Client
	url    string
	wait   backoff

	size  uint64 // 0: not known
	at    uint64
	tag   string
	body  io.ReadCloser
	stall *time.Timer
	end   context.CancelFunc
	tries int
}

// fetch begins to read an image. The caller closes it. The error is *NoImage.
func (a *Agent) fetch(ctx context.Context, where string) (*image, error) {
	u, err := url.Parse(where)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, &NoImage{"its address is none of HTTP"}
	}
	conf := pin.Client(pin.Trust{Pins: []pin.Pin{a.Config.BooterPin}, Name: u.Hostname()}, a.Now)
	conf.NextProtos = []string{"http/1.1"}
	tr := &http.Transport{DialContext: a.Dial, TLSClientConfig: conf, DisableKeepAlives: true, DisableCompression: true, ResponseHeaderTimeout: imageStall}
	i := &image{ctx: ctx, url: where, wait: backoff{entropy: a.Entropy},
		client: &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if err := i.again(errors.New("it was not asked for")); err != nil {
		return nil, err
	}
	return i, nil
}

// Read is io.Reader's. The error is io.EOF, *NoImage or the context's.
func (i *image) Read(b []byte) (int, error) {
	for {
		if i.body == nil {
			return 0, io.EOF
		}
		n, err := i.body.Read(b)
		i.at += uint64(n)
		if n > 0 {
			i.stall.Reset(imageStall)
			i.tries = 0
			i.wait.reset()
			return n, nil
		}
		if errors.Is(err, io.EOF) && (i.size == 0 || i.at == i.size) {
			return 0, io.EOF
		}
		if err == nil {
			continue
		}
		if err := i.again(err); err != nil {
			return 0, err
		}
	}
}

// Close ends the connection.
func (i *image) Close() {
	if i.body != nil {
		i.stall.Stop()
		_ = i.body.Close() // what is left is not wanted
		i.end()
		i.body = nil
	}
	i.client.CloseIdleConnections()
}

// again opens it from where it is, after a failure.
func (i *image) again(last error) error {
	i.Close()
	for ; i.tries < imageTries; i.tries++ {
		if i.tries > 0 && !i.wait.wait(i.ctx) {
			return i.ctx.Err()
		}
		final, err := i.open()
		if err == nil {
			i.tries++
			return nil
		}
		if last = err; final {
			break
		}
	}
	if i.ctx.Err() != nil {
		return i.ctx.Err()
	}
	return &NoImage{fmt.Sprintf("after %d bytes: %s", i.at, plain(last))}
}

// open asks for what is missing. final says that asking again is of no use.
func (i *image) open() (final bool, err error) {
	ctx, cancel := context.WithCancel(i.ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, i.url, nil)
	if err != nil {
		cancel()
		return true, err
	}
	if i.at > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", i.at))
		if i.tag != "" {
			req.Header.Set("If-Range", i.tag)
		}
	}
	stall := time.AfterFunc(imageStall, cancel)
	res, err := i.client.Do(req)
	if err == nil {
		if final, err = i.answered(res); err != nil {
			_ = res.Body.Close()
		}
	}
	if err != nil {
		stall.Stop()
		cancel()
		return final, err
	}
	stall.Reset(imageStall)
	i.body, i.end, i.stall = res.Body, cancel, stall
	return false, nil
}

// answered judges an answer: all of it, or exactly what is missing.
func (i *image) answered(res *http.Response) (final bool, err error) {
	switch {
	case res.StatusCode == http.StatusOK && i.at == 0:
		i.size, i.tag = uint64(max(res.ContentLength, 0)), strong(res.Header.Get("ETag"))
		return false, nil
	case res.StatusCode == http.StatusOK:
		return true, errors.New("the image changed, or its server cannot go on where it was cut")
	case res.StatusCode == http.StatusPartialContent && res.Header.Get("Content-Range") == i.rest():
		return false, nil
	case res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusRequestTimeout:
		return false, errors.New("its server answers " + strconv.Itoa(res.StatusCode))
	}
	return true, errors.New("its server answers " + strconv.Itoa(res.StatusCode))
}

// rest is the Content-Range of what is missing (RFC 9110, section 14.4).
func (i *image) rest() string {
	return fmt.Sprintf("bytes %d-%d/%d", i.at, i.size-1, i.size)
}

// strong is an ETag that If-Range may have: no weak one.
func strong(tag string) string {
	if strings.HasPrefix(tag, "W/") {
		return ""
	}
	return tag
}

// plain is an error without the address, which may hold a token.
func plain(err error) string {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return err.Error()
}
