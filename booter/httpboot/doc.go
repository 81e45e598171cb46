// Package httpboot serves boot files over HTTP to firmware and boot loaders.
//
// Such clients are simple: they follow no redirect, want the length before the
// content, and resume a download by Range and If-Match. So a [Handler] answers GET
// and HEAD alone, with Content-Length, never in chunks, never with a redirect, and
// tells 404 for whatever a client may not have: a stranger learns nothing from it
// (BOOT-25).
//
// What a client is served, [Handler.Resolve] decides, by the same decision as DHCP
// (BOOT-9). It is asked with the client's source address, the address that the
// client reached, and a clean local path. Host headers say nothing here, since some
// firmware leaves out the port: build URLs from [Request.Local].
//
// Mount a Handler as a server's handler, not below an http.ServeMux, which redirects
// paths that are not clean. [NewServer] does.
package httpboot
